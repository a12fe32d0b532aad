"""Writes a log record as one JSON line or as one aligned console line."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Final, cast

from penstock.observe.cleaning import clean_fields, clean_text

FIELDS: Final = "penstock_fields"
"""The record attribute that carries our cleaned fields."""

_COLOURS = {"debug": "\x1b[2m", "info": "\x1b[32m", "warning": "\x1b[33m", "error": "\x1b[31m"}
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_LEVEL_WIDTH, _LOGGER_WIDTH, _EVENT_WIDTH = 7, 24, 28

# Control characters could forge lines or drive the terminal; bidirectional and invisible ones hide text.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = re.compile(r"[^\s\"'\\=]+")


_encode = json.JSONEncoder(allow_nan=False).encode


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """The cleaned fields of our records; for another library's record, its exception."""
    fields = getattr(record, FIELDS, None)
    if fields is not None:
        return cast("dict[str, object]", fields)
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    debugging = logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
    return clean_fields({"error": error}, with_traceback=debugging)


def event_of(record: logging.LogRecord) -> str:
    """The event name; another library's arguments may not match its message."""
    if hasattr(record, FIELDS):
        return str(record.msg)
    try:
        return clean_text(record.getMessage())
    except Exception:  # noqa: BLE001 - the arguments are another library's
        return clean_text(record.msg)


def level_of(record: logging.LogRecord) -> str:
    """One of our four levels."""
    if record.levelno >= logging.ERROR:
        return "error"
    if record.levelno >= logging.WARNING:
        return "warning"
    return "info" if record.levelno >= logging.INFO else "debug"


def escape(text: str) -> str:
    """The text with every control or bidirectional character escaped."""
    return _UNSAFE.sub(lambda found: _SHORT.get(found[0]) or _code_point(found[0]), text)


def _code_point(character: str) -> str:
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class JsonFormat(logging.Formatter):
    """{"time", "level", "logger", "event", …fields}, ASCII only, so that any reader can parse it."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": moment.replace("+00:00", "Z"),
            "level": level_of(record),
            "logger": record.name,
            "event": event_of(record),
            **fields_of(record),
        }
        return _encode(line)


class ConsoleFormat(logging.Formatter):
    """Time (UTC), level, logger, event in columns, then name=value; tracebacks indented below."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        level = level_of(record)
        name = escape(record.name.removeprefix("penstock."))
        pairs: list[str] = []
        below: list[str] = []
        for key, value in fields_of(record).items():
            if key.endswith("_traceback") and isinstance(value, list):
                below.extend(f"    | {escape(str(place))}" for place in value)
            else:
                pairs.append(f"{self._paint(_DIM, _quote(key) + '=')}{_show(value)}")
        head = " ".join(
            (
                self._paint(_DIM, moment),
                self._paint(_COLOURS[level], level.ljust(_LEVEL_WIDTH)),
                self._paint(_DIM, name.ljust(_LOGGER_WIDTH)),
                self._paint(_BOLD, escape(event_of(record)).ljust(_EVENT_WIDTH)),
            )
        )
        return "\n".join([" ".join([head, *pairs]).rstrip(), *below])

    def _paint(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self._colour else text


def _show(value: object) -> str:
    if isinstance(value, str):
        return _quote(value)
    return escape(json.dumps(value, ensure_ascii=False))


def _quote(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return escape(text)
    return '"' + escape(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'
