"""Reads XML: sections, paragraphs, lists and tables of documents, and records of data."""

from __future__ import annotations

import html
import re
from xml.parsers import expat

from penstock.model import Parsed
from penstock.model.text_media import JATS
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.fallback import as_plain_text
from penstock.pipeline.parse.readers.journal import read_article
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.readers.xml_prose import ProseWalker
from penstock.pipeline.parse.readers.xml_records import RecordWalker
from penstock.pipeline.parse.readers.xml_tree import Node, tree
from penstock.pipeline.parse.result import FileMetadata

_TAG = re.compile(r"<[^<>]*+>")
_CDATA = re.compile(r"<!\[CDATA\[([^\]<]*+)\]\]>")
"""Words in a section of CDATA, which would be taken for a tag."""
_PARAGRAPHS = ("p", "para", "simpara", "claim-text")
_ENOUGH_PARAGRAPHS = 3
_TITLE_OF = ("invention-title", "article-title", "title", "doctitle")


class XmlReader:
    def read(self, source: ParserInput) -> Parsed:
        data = source.path.read_bytes()
        try:
            root = tree(data)
        except expat.ExpatError as error:
            words = html.unescape(_TAG.sub(" ", _CDATA.sub(r"\1", decoded(data)[0])))
            return as_plain_text(words, "XML", str(error)[:100])
        out = Composer()
        if source.mime_type == JATS and root.tag == "article":
            return out.finished("jats", read_article(root, out))
        about = FileMetadata(title=_title(root))
        if len(root.all(*_PARAGRAPHS)) >= _ENOUGH_PARAGRAPHS:
            ProseWalker(out).document(root, about.title)
        else:
            RecordWalker(out).write(root)
        return out.finished("xml", about)


def _title(root: Node) -> str | None:
    for tag in _TITLE_OF:
        for place in (root, *root.elements()[:3]):
            if (found := place.first(tag)) is not None:
                return found.text()[:500] or None
    invention = root.all("invention-title")
    return (invention[0].text()[:500] or None) if invention else None


READER = XmlReader()
