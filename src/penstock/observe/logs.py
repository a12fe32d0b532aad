"""Structured logging on top of the standard library: an event name and fields, without secrets."""

import logging
import os
import sys
from typing import Final, Literal, TextIO

from penstock.observe.cleaning import clean_fields, clean_text
from penstock.observe.formats import FIELDS, ConsoleFormat, JsonFormat
from penstock.observe.throttle import Throttle

Level = Literal["debug", "info", "warning", "error", "critical"]
Format = Literal["auto", "json", "console"]

_LEVELS: Final[dict[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_FORMATS: Final = ("auto", "json", "console")
_process_throttle: Final = Throttle()


class Logger:
    """Writes events with fields; never raises, whatever a field is."""

    __slots__ = ("_fields", "_target", "_throttle")

    def __init__(self, target: logging.Logger, fields: dict[str, object], throttle: Throttle) -> None:
        self._target = target
        self._fields = fields
        self._throttle = throttle

    def bind(self, **fields: object) -> "Logger":
        """A logger that adds these fields to every line."""
        return Logger(self._target, {**self._fields, **fields}, self._throttle)

    @property
    def enabled_for_debug(self) -> bool:
        """Check this before building expensive fields."""
        return self._target.isEnabledFor(logging.DEBUG)

    def debug(self, event: str, /, **fields: object) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        self._write(logging.ERROR, event, fields)

    def throttled(
        self, event: str, /, *, every: float = 1.0, key: str = "", level: Level = "warning", **fields: object
    ) -> None:
        """At most one line per event and key every `every` seconds; the next has the number `suppressed`."""
        try:
            number = _LEVELS.get(level, logging.WARNING)
            if not self._target.isEnabledFor(number):
                return
            suppressed = self._throttle.admit((self._target.name, event, key), every)
            if suppressed is None:
                return
            if key:
                fields["key"] = key
            if suppressed:
                fields["suppressed"] = suppressed
        except Exception:  # noqa: BLE001 - logging must never fail a task
            return
        self._write(number, event, fields)

    def _write(self, level: int, event: str, fields: dict[str, object]) -> None:
        try:
            target = self._target
            if not target.isEnabledFor(level):
                return
            # Cleaned here, not in the formatter: other handlers on the logger see the record too.
            shown = clean_fields(
                {**self._fields, **fields} if self._fields else fields,
                with_traceback=target.isEnabledFor(logging.DEBUG),
            )
            record = target.makeRecord(
                target.name, level, "", 0, clean_text(event), (), None, extra={FIELDS: shown}
            )
            target.handle(record)
        except Exception:  # noqa: BLE001 - the same
            return


def get_logger(name: str, *, throttle: Throttle | None = None) -> Logger:
    """A logger with this name; `throttle` is for tests that set the clock."""
    return Logger(logging.getLogger(name), {}, throttle or _process_throttle)


def configure(
    level: str = "info",
    format: str = "auto",  # noqa: A002 - the setting is called log format
    *,
    stream: TextIO | None = None,
) -> None:
    """Send logs to stderr; `auto` is console on a terminal and JSON otherwise. May be called again."""
    number = _LEVELS.get(level.lower())
    if number is None:
        raise ValueError(f"log level {level!r} is unknown; use one of {', '.join(_LEVELS)}")
    if format not in _FORMATS:
        raise ValueError(f"log format {format!r} is unknown; use one of {', '.join(_FORMATS)}")
    terminal = _is_terminal(stream or sys.stderr)
    handler = _StderrHandler(stream)
    handler.setFormatter(
        ConsoleFormat(colour=terminal and _wants_colour())
        if format == "console" or (format == "auto" and terminal)
        else JsonFormat()
    )
    root = logging.getLogger()
    for old in [known for known in root.handlers if isinstance(known, _StderrHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(number)


class _StderrHandler(logging.Handler):
    """Writes to the given stream, or to the current stderr; errors of the stream are ignored."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__()
        self._stream = stream

    def filter(self, record: logging.LogRecord) -> bool:
        # Drop other libraries' records below warning, such as every request of an HTTP client.
        wanted = hasattr(record, FIELDS) or record.levelno >= logging.WARNING
        return wanted and bool(super().filter(record))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            stream = self._stream or sys.stderr
            encoding = getattr(stream, "encoding", None) or "utf-8"
            line = self.format(record) + "\n"
            stream.write(line.encode(encoding, "backslashreplace").decode(encoding))
            stream.flush()
        except Exception:  # noqa: BLE001 - the same, and there is nowhere left to report it
            return


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError, OSError):
        return False


def _wants_colour() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
