"""The media types of structured text and source code: their extensions, and the signs of each."""

from __future__ import annotations

import re

JSON = "application/json"
JSON_LINES = "application/x-ndjson"
XML = "application/xml"
JATS = "application/jats+xml"
LATEX = "text/x-tex"
ASCIIDOC = "text/asciidoc"
RST = "text/x-rst"
ORG = "text/org"
NOTEBOOK = "application/x-ipynb+json"
SUBRIP = "application/x-subrip"
WEBVTT = "text/vtt"

STRUCTURED = {
    JSON: ("json", "geojson"),
    JSON_LINES: ("jsonl", "ndjson"),
    XML: ("xml", "xbrl", "rss", "atom", "xsd", "xsl", "xslt", "svg", "dbk", "dita", "kml", "gpx"),
    JATS: ("nxml", "jats"),
    LATEX: ("tex", "latex", "ltx"),
    ASCIIDOC: ("adoc", "asciidoc", "asc"),
    RST: ("rst", "rest"),
    ORG: ("org",),
    NOTEBOOK: ("ipynb",),
    SUBRIP: ("srt",),
    WEBVTT: ("vtt",),
}
"""Each type and its file extensions; the first is the usual one."""
CODE = {
    "text/x-python": ("py", "pyi", "pyw"),
    "text/javascript": ("js", "mjs", "cjs", "jsx"),
    "text/x-typescript": ("ts", "tsx", "mts", "cts"),
    "text/x-java": ("java",),
    "text/x-c": ("c", "h"),
    "text/x-c++": ("cpp", "cc", "cxx", "hpp", "hh", "hxx"),
    "text/x-csharp": ("cs",),
    "text/x-go": ("go",),
    "text/x-rust": ("rs",),
    "text/x-ruby": ("rb",),
    "text/x-php": ("php",),
    "text/x-kotlin": ("kt", "kts"),
    "text/x-swift": ("swift",),
    "text/x-scala": ("scala",),
    "text/x-dart": ("dart",),
    "text/x-perl": ("pl", "pm"),
    "text/x-lua": ("lua",),
    "text/x-r": ("r",),
    "text/x-sql": ("sql",),
    "text/x-shellscript": ("sh", "bash", "zsh", "ksh"),
}
"""Source code, in the same form."""
ALL = STRUCTURED | CODE
OTHER_NAMES = {
    "text/json": JSON,
    "application/geo+json": JSON,
    "application/ld+json": JSON,
    "application/jsonl": JSON_LINES,
    "application/json-lines": JSON_LINES,
    "application/x-jsonlines": JSON_LINES,
    "text/xml": XML,
    "application/rss+xml": XML,
    "application/atom+xml": XML,
    "image/svg+xml": XML,
    "application/x-tex": LATEX,
    "application/x-latex": LATEX,
    "text/x-latex": LATEX,
    "text/prs.fallenstein.rst": RST,
    "text/x-org": ORG,
    "text/srt": SUBRIP,
    "text/x-script.python": "text/x-python",
    "application/x-python-code": "text/x-python",
    "application/javascript": "text/javascript",
    "application/x-javascript": "text/javascript",
    "application/typescript": "text/x-typescript",
    "text/x-java-source": "text/x-java",
    "text/x-csrc": "text/x-c",
    "text/x-chdr": "text/x-c",
    "text/x-c++src": "text/x-c++",
    "application/x-httpd-php": "text/x-php",
    "application/sql": "text/x-sql",
    "application/x-sh": "text/x-shellscript",
}

# Each pattern is anchored, or cannot start a match inside another attempt, so each takes linear time.
_JSON_OBJECT = re.compile(r'\s*+(?:\[\s*+)?\{\s*+"(?:[^"\\\n]|\\.){0,200}+"\s*+:')
_JSON_LINE = re.compile(r'\{"[^\n]*\}[ \t\r]*+\n[ \t]*+\{"')
_JATS_ROOT = re.compile(r"<article[\s>][^<]*+")
_SUBRIP_START = re.compile(r"\s*+\d{1,6}+[ \t]*+\r?\n\d{1,3}+:\d\d:\d\d[,.]\d{3} -->")
_LATEX_START = re.compile(r"^[ \t]*+\\(?:documentclass|documentstyle)\b", re.M)
_ORG_START = re.compile(r"\s*+#\+(?:title|author|options|startup):", re.I)
_RST_SIGN = re.compile(r"^\.\. (?:[a-z][a-z-]*+::|_[^:\n]++:[ \t\r]*+$|contents::|\[#?\w*+\] )", re.M)
_ASCIIDOC_TITLE = re.compile(r"\s*+= \S")
_ASCIIDOC_SIGN = re.compile(r"^(?:==+ \S|:[a-z][\w-]*+:|\[source|\|===[ \t\r]*+$|include::)", re.M)
_SHEBANG = re.compile(r"#![^\n]{0,80}?\b(python|bash|zsh|ksh|sh|node|ruby|perl|php|lua)")
_INTERPRETERS = {
    "python": "text/x-python",
    "node": "text/javascript",
    "ruby": "text/x-ruby",
    "perl": "text/x-perl",
    "php": "text/x-php",
    "lua": "text/x-lua",
}


def refined(kind: str, text: str) -> str:
    """XML that is a journal's article, and JSON that is a notebook."""
    if kind == XML and _is_jats(text):
        return JATS
    if kind == JSON and _is_notebook(text):
        return NOTEBOOK
    return kind


def by_clear_sign(text: str) -> str | None:
    """The type, if the beginning of the text has a sign that other text does not have."""
    start = text[:200].lstrip()
    if start.startswith("<?xml"):
        return refined(XML, text)
    if start.startswith("<article") and _is_jats(text):
        return JATS
    if start.startswith("<?php"):
        return "text/x-php"
    if start.startswith("#!") and (found := _SHEBANG.match(start)):
        return _INTERPRETERS.get(found[1], "text/x-shellscript")
    if start.startswith("WEBVTT") and not start[6:7].strip():
        return WEBVTT
    if start[:1] in ("{", "[") and _JSON_OBJECT.match(text):
        return JSON_LINES if _JSON_LINE.match(text.lstrip()) else refined(JSON, text)
    if start[:1].isdigit() and _SUBRIP_START.match(text):
        return SUBRIP
    if start.startswith("#+") and _ORG_START.match(text):
        return ORG
    return LATEX if _LATEX_START.search(text) else None


def by_weak_sign(text: str) -> str | None:
    """The type of text that is not Markdown, by signs that are only likely."""
    if _ASCIIDOC_TITLE.match(text) and _ASCIIDOC_SIGN.search(text):
        return ASCIIDOC
    return RST if _RST_SIGN.search(text) else None


def _is_jats(text: str) -> bool:
    if "//NLM//DTD" in text or "JATS-" in text[:2_000]:
        return True
    root = _JATS_ROOT.search(text)
    return root is not None and ("<article-meta" in text or "<front>" in text or "dtd-version=" in root[0])


def _is_notebook(text: str) -> bool:
    return '"cell_type"' in text and '"cells"' in text
