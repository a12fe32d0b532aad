"""Reads CSV and similar formats as one table."""

from __future__ import annotations

import csv
import io

from penstock.model import Parsed
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import parsed
from penstock.pipeline.parse.table import markdown_table
from penstock.pipeline.reasons import Reason, rejected

_DELIMITERS = ",;\t|"
_SAMPLE = 65_536


class DelimitedReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        csv.field_size_limit(16 << 20)
        try:
            rows = list(
                csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=_delimiter(text))
            )
        except csv.Error as error:
            raise rejected(Reason.MALFORMED, f"the table cannot be read: {error}") from error
        return parsed([(None, markdown_table(rows))], parser="csv")


def _delimiter(text: str) -> str:
    """The delimiter that splits most lines into the same number of cells."""
    sample = text[:_SAMPLE].splitlines()[:200]
    best, most = ",", 0
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        usual = max(set(widths), key=widths.count, default=1)
        score = widths.count(usual) if usual > 1 else 0
        if score > most:
            best, most = delimiter, score
    return best


READER = DelimitedReader()
