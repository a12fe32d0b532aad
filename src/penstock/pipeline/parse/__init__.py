"""Parsing: a file of any kind becomes text with its structure."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.pipeline.parse.desk import ParseDesk
    from penstock.pipeline.parse.errors import ParserUnavailable
    from penstock.pipeline.parse.protocol import Parser
    from penstock.pipeline.parse.reasons import Reason

__all__ = ["ParseDesk", "Parser", "ParserUnavailable", "Reason"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "desk": ["ParseDesk"],
        "errors": ["ParserUnavailable"],
        "protocol": ["Parser"],
        "reasons": ["Reason"],
    },
)
