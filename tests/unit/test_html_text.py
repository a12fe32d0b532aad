"""The text of HTML in records: what a tree builder finds in ordinary HTML, in one pass for any."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from penstock.sources.reading.html_text import decoded, text_of_html

PAGE = """<!DOCTYPE html><html><head><title>Not shown</title><style>p { color: red }</style></head>
<body class="a > b"><!-- a > comment --><p title='x > y'>Dear <b>Ada</b>,</p>
<p>1 &lt; 2 &amp; 3&nbsp;&euro;<br>next
line</p><script>if (a < b) document.write("</p>")</script>
<ul><li>one<li>two</ul><P>caf&#233; &#x1F600;</P></body></html>"""


def by_a_tree(html: str) -> str:
    page = LexborHTMLParser(html)
    page.strip_tags(["script", "style", "head", "title"])
    return page.body.text(separator="\n", strip=True) if page.body is not None else ""


@pytest.mark.parametrize(
    "html",
    [
        PAGE,
        "plain text",
        "a < b and c > d",
        "x<y",
        "<p>one</p>two<br/>three",
        "<a href=don't>it is</a> here",
        "<a href = \"a>b\" x='c>d' y>text</a>",
        "<!-->shown<!--->also<!-- hidden -->too",
        "<?xml version='1.0'?><p>after</p>",
        "a</ nothing>shown",
        "<p>&unknown; &amp &#0; &#xD800; &lt;b&gt;</p>",
        "<style>a</style-x>b</style>c",
        "<SCRIPT>a</Script >b",
        "a<!-- never closed",
        "a<b never closed",
        "a<script>never closed",
        "",
        "<",
        "a<",
    ],
)
def test_ordinary_html_gives_the_text_that_a_tree_gives(html: str) -> None:
    assert text_of_html(html, "\n").split() == by_a_tree(html).split()


def test_a_character_number_of_any_length_is_left_as_it_is() -> None:
    assert decoded("&#" + "9" * 5_000 + "; &amp;").startswith("&#999")
