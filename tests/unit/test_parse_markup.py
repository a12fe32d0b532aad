"""HTML as people write it: whatever is wrong with a page, words outside hidden elements are never lost."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from penstock.pipeline.parse import markup_source
from penstock.pipeline.parse.markup import web_page

SHOWN = [
    *("p", "div", "span", "b", "i", "a", "font", "em", "code", "nobr", "h1", "h2"),
    *("h6", "ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tfoot", "tr"),
    *(
        "td",
        "th",
        "caption",
        "colgroup",
        "pre",
        "blockquote",
        "form",
        "fieldset",
        "legend",
        "button",
        "label",
        "center",
    ),
    *(
        "html",
        "head",
        "body",
        "textarea",
        "xmp",
        "listing",
        "marquee",
        "details",
        "dialog",
        "article",
        "header",
        "figure",
    ),
    *(
        "address",
        "ruby",
        "rt",
        "option",
        "optgroup",
        "video",
        "applet",
        "custom-part",
        "o:p",
        "sarcasm",
    ),
]
VOID = ["br", "hr", "img", "input", "col", "wbr", "link", "meta", "area", "image", "frame"]
HIDDEN = [
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "nav",
    "object",
    "canvas",
    "annotation",
    "select",
    "datalist",
]
ATTRIBUTES = ["", ' class="a"', " id=x aria-hidden=true", " a='>'", " / ", ' style="color:red"', " x=1 x=2"]
HIDING = [" hidden", ' hidden="until-found"', ' style="display:none"', " style='x:y; DISPLAY: none'"]
ODDITIES = [
    "<!-->",
    "<!--a-->",
    "<!--a--!>",
    "<?php a ?>",
    "<!doctype html>",
    "<!x>",
    "</>",
    "</ >",
    "<![CDATA[a]]>",
]
ODDITIES += [
    "< ",
    "<3 ",
    "& ",
    "&#0;",
    "&#xD800;",
    "&#99999999;",
    "&nosuch;",
    "\0",
    "\ufeff",
    "\f",
    "]]>",
    "-->",
    "</p>",
]
ENDINGS = [
    "",
    "<",
    "</",
    "<p",
    "</di",
    "<a href='x",
    "<p a",
    "&am",
    "&#x",
    "<!",
    "<!-",
    "<!--a",
    "<![CDATA[",
    "<script>",
]


def _tags(names: list[str], attributes: list[str]) -> st.SearchStrategy[str]:
    starts = st.builds("<{}{}>".format, st.sampled_from(names), st.sampled_from(attributes))
    return st.one_of(starts, starts, st.builds("</{}>".format, st.sampled_from(names)))


def _malformed_html(*tags: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Tags in any order, with a word of its own at each `@`."""
    piece = st.one_of(st.just("@"), st.just("@"), st.sampled_from(ODDITIES), *tags)
    return st.builds(_numbered, st.lists(piece, max_size=40), st.sampled_from(ENDINGS))


def _numbered(pieces: list[str], ending: str) -> str:
    return "".join(f" w{at}w " if piece == "@" else piece for at, piece in enumerate(pieces)) + ending


def _words(text: str) -> list[str]:
    return re.findall(r"w\d+w", text)


FRAMES = ["frameset", "noframes", "noembed", "plaintext"]


@settings(max_examples=300)
@example("<h1>w0w</h1><p>w1w</p><ul><li>w2w<li>w3w</ul><p>w4w</p>")
@example("<frameset>w0w<frame><noframes><p>w1w</noframes></frameset>w2w")
@example("<frame><frameset> w2w ")
@example("<table>w0w<tr>w1w<td>w2w</table><caption>w3w")
@given(_malformed_html(_tags([*SHOWN, *FRAMES], ATTRIBUTES), st.sampled_from([f"<{name}>" for name in VOID])))
def test_no_mix_of_visible_elements_loses_a_word(html: str) -> None:
    assert sorted(_words(web_page(html).text)) == sorted(_words(html))


@settings(max_examples=300)
@example("<h1>w0w</h1><p>w1w</p><ul><li hidden>w2w<li>w3w</ul><p>w4w</p>")
@example("<table><tr><td>w0w<td>w1w<caption>w2w</caption><tr><td>w3w<td>w4w</table>")
@example("<svg>w0w<p>w1w</svg><math>w2w<table>w3w")
@given(
    _malformed_html(
        _tags(SHOWN, ATTRIBUTES),
        _tags([name for name in SHOWN if name != "html"], HIDING),
        _tags(HIDDEN, ATTRIBUTES[:3]),
        st.sampled_from([f"<{name} hidden>" for name in VOID]),
    )
)
def test_the_text_has_what_a_browser_shows_in_its_order_and_not_what_it_hides(html: str) -> None:
    """Which words those are is decided by the parser's own text of the tree without its hidden parts."""
    tree = LexborHTMLParser(html)
    hiding = ", ".join([*HIDDEN, "[hidden]", '[style*="display:none" i]', '[style*="display: none" i]'])
    for node in tree.css(hiding):
        if node.tag not in VOID:
            node.decompose()
    shown = _words(tree.text())
    assert _words(web_page(html).text) == shown


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<h1>Title</h1><p>first</p><ul><li hidden>x<li>kept</ul><p>too</p>",
            "# Title\n\nfirst\n\n- kept\n\ntoo",
        ),
        ("<p hidden>x<p>a<p style=display:none>x<p>b", "a\n\nb"),
        ("<div hidden>x<div>x</div>x</div>a", "a"),
        ("<table><tr hidden><td>x<td>x<tr><td>a<td>b</table>c", "| a | b |\n| --- | --- |\n\nc"),
        ("<p aria-hidden=true>a", "a"),
        ("<br hidden>a<img hidden alt=b>", "a b"),
        ("<svg><text>x</text><p>a", "a"),
        ("<math><mi>x</mi><annotation>tex</annotation></math>a<svg/>b<math/>c", "xabc"),
        ("<svg><title>x</title></svg>a", "a"),
        ("<template><p>x</template>a", "a"),
        ("<body><noscript><p>x</p></noscript>a", "a"),
        ("<select><option>x</select>a", "a"),
        ("<textarea>a <b> b</textarea>c", "a <b> b c"),
        ("<xmp><b>a</xmp>b", "```\n<b>a\n```\n\nb"),
        ("a<plaintext>b</plaintext>", "a\n\n```\nb</plaintext>\n```"),
        ("<frameset><frame>a<noframes><h1>b</h1><p>c</noframes></frameset>d", "a\n\n# b\n\nc\n\nd"),
        ("<noframes>a<noframes><p>b", "a<p>b"),
        ("<p>a<!-- x", "a"),
        ("a<!-- x --!>b<!-->c<!>d", "abcd"),
        ("a<![CDATA[x]]>b", "ab"),
        ("a<?xml version='1.0'?>b</ x>c", "abc"),
        ("a<b", "a"),
        ("a < b <3 a<=b & c &lt d &bogus; &#x41; &#0;", "a < b <3 a<=b & c < d &bogus; A \ufffd"),
        ("a\0b<p>\0c", "ab\n\nc"),
        ("<b><p>a</b>b</p>c", "ab\n\nc"),
        ("<p><b><i>a<p>b</i>c</b>d", "a\n\nbcd"),
        ("<a href=x>a<a href=y>b</a>", "ab"),
        ("</p>a</br>b</nothing>c", "a\nbc"),
        ("<table>a<tr><td>b<td>c</table>d", "a\n\n| b | c |\n| --- | --- |\n\nd"),
        ("<table><td>a<td>b<tr><td>c<td>d</table>", "| a | b |\n| --- | --- |\n| c | d |"),
        ("<table><tr><td colspan=2>a<tr><td rowspan=3>b<td>c</table>", "| a |  |\n| --- | --- |\n| b | c |"),
        (
            "<table><caption>a</caption><tr><th>b<th>c<tfoot><tr><td>d<td>e</table>",
            "a\n\n| b | c |\n| --- | --- |\n| d | e |",
        ),
        (
            "<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>",
            "a\n\n| b | c |\n| --- | --- |\n\nd\n\ne",
        ),
        ("<ul><li>a<ul><li>b</ul>c<ol><li>d<li>e</ol></ul>", "- a\n  - b\n  c\n  1. d\n  2. e"),
        ("<li>a<li>b", "a\n\nb"),
        ("<h1>a<h2>b<p>c", "# a\n\n## b\n\n## c"),
        ("<html><body>a</body></html>b<body>c", "abc"),
        ("<head>a<title>x</title></head>b", "ab"),
        ("", ""),
    ],
)
def test_malformed_pages_are_read_as_browsers_read_them(html: str, text: str) -> None:
    assert web_page(html).text == text


@pytest.mark.parametrize(
    "tag", ["title", "script src='x'", "style", "iframe", "textarea", "noscript", "nav", "select"]
)
def test_an_element_closed_in_xhtml_style_does_not_swallow_the_page(tag: str) -> None:
    assert web_page(f"<html><head><{tag}/></head><body><p>a</p></body>").text == "a"
    assert web_page(f"<p>a</p><{tag} /><p>b</p>").text == "a\n\nb"
    assert web_page(f"<script>x('<{tag}/>', '<p>x')</script>a").text == "a"


def test_a_title_is_kept_beside_the_text_and_only_what_does_not_fit_within_it() -> None:
    page = web_page("<title> The &lt;b> page </title><p>a<title>The &lt;b> page</title>")
    assert (page.about.title, page.text) == ("The <b> page", "a")
    assert web_page("<title>One</title><p>a<title>Two</title>b").text == "a\n\nTwo\n\nb"
    long = "word " * 200
    assert web_page(f"<title>{long}</title><p>a").text == f"{long.strip()}\n\na"
    assert web_page("<title>Never closed<body><p>a</p><p>b</p>").text == "Never closed\n\na\n\nb"
    assert web_page("<title>T</title><p>a</p><title>Never closed<p>b</p>").about.title == "T"


NEST = 100_000


@pytest.mark.parametrize("nested", ["<b>x", "<div>x", "<ul><li>x", "<table><tr><td>x"])
def test_endless_nesting_is_read_in_linear_time_and_keeps_every_word(nested: str) -> None:
    began = time.process_time()
    assert web_page(nested * NEST).text.count("x") == NEST
    assert time.process_time() - began < 20  # of lists alone the parser would need minutes


@pytest.mark.parametrize(
    "nested",
    [
        *("<span>x", "<p><b>x", "<b><div>x", "<a><div>x", "<custom-part>x", "<dl><dd>x", "<table><caption>x"),
        *("<h1>x", "<pre>x", "<ruby><rt>x", "<frameset>x", "<noframes>x", "<p>x<i></p>", "<marquee>x"),
    ],
)
def test_everything_nested_in_itself_keeps_every_word(nested: str) -> None:
    assert web_page(nested * 25_000).text.count("x") == 25_000


@pytest.mark.parametrize(
    "repeated",
    [
        *("&", "&#x", "<", "</", "\0", "<!--", "<![CDATA[", "<!", "<p ", '<a "', "<title>", "<textarea>"),
        *(
            "<svg>",
            "<math><mi>",
            "<template>",
            "<select>",
            "<script>",
            "<script/>",
            "<object>",
            "<plaintext>",
        ),
    ],
)
def test_the_same_over_and_over_is_read_in_linear_time(repeated: str) -> None:
    began = time.process_time()
    web_page(repeated * NEST)
    assert time.process_time() - began < 20


def test_a_page_with_many_tags_that_is_not_nested_deeply_is_parsed_as_it_is() -> None:
    rows = "<h2>a</h3><p><font>b<ul><li><span>c</ul><a name=d>" * 30_000
    assert markup_source.prepared(rows) == rows


def test_tags_are_left_out_only_where_they_are_nested_too_deeply() -> None:
    deep = "<div>" * NEST + "<p>a" + "</div>" * NEST + "<h1>b</h1><ul><li>c<li hidden>x</ul>"
    assert web_page(deep).text == "a\n\n# b\n\n- c"
