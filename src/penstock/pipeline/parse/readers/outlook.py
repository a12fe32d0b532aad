"""Reads Outlook's MSG files: the text by xberg, the attachments out of the compound file."""

from __future__ import annotations

from penstock.model import Parsed, media
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.protocol import Paper
from penstock.pipeline.parse.result import About, parsed


class OutlookReader:
    kinds = frozenset({media.MSG})

    def read(self, paper: Paper) -> Parsed:
        document = engine.extract(paper.path, mime_type=media.MSG, filename="document.msg")
        return parsed([(None, engine.prose(document.content))], parser="xberg", about=About.of(document))
