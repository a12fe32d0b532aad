"""Reads the binary formats of Office 97 to 2003: DOC, PPT and XLS."""

from __future__ import annotations

import struct

from penstock.model import Parsed, media
from penstock.pipeline.parse.compound import CompoundDamaged, CompoundFile
from penstock.pipeline.parse.office.doc import read_doc
from penstock.pipeline.parse.office.ppt import read_ppt
from penstock.pipeline.parse.office.sheet import hidden_warning
from penstock.pipeline.parse.office.summary import summary
from penstock.pipeline.parse.office.xls import read_xls, sheet_names
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed
from penstock.pipeline.reasons import Reason, rejected


class OldOfficeReader:
    def read(self, source: ParserInput) -> Parsed:
        try:
            file = CompoundFile(source.path.read_bytes())
            about = summary(file)
            if source.mime_type == media.DOC:
                return parsed([(None, read_doc(file))], parser="doc", about=about)
            if source.mime_type == media.PPT:
                slides = read_ppt(file)
                pages = list(enumerate(slides, start=1))
                return parsed(pages, parser="ppt", about=about, page_count=len(slides) or None)
            names = sheet_names(file)
        except CompoundDamaged as error:
            reason = Reason.TRUNCATED if "truncated" in str(error) else Reason.MALFORMED
            raise rejected(reason, f"the office file is damaged: {error}") from error
        except struct.error as error:
            raise rejected(Reason.MALFORMED, f"the office file is damaged: {error}") from error
        warnings = hidden_warning(sum(name.is_hidden for name in names))
        text = read_xls(source.path, names)
        return parsed([(None, text)], parser="xberg", about=about, warnings=warnings)


READER = OldOfficeReader()
