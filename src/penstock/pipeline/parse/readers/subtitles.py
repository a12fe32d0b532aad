"""Reads subtitles (SubRip and WebVTT): what is said, joined into paragraphs, each with the time it starts."""

from __future__ import annotations

import html
import re

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.readers.plain import decoded
from penstock.pipeline.parse.result import FileMetadata

_TIMES = re.compile(r"[ \t]*+(?:(\d{1,3}):)?(\d\d):(\d\d)[,.]\d{3}[ \t]++-->[ \t]++[\d:.,]++")
_SPEAKER = re.compile(r"<v(?:\.[^ >]*+)?+[ \t]++([^>\n]++)>")
_TAG = re.compile(r"<[^<>\n]{0,200}+>|\{\\[^{}\n]{0,200}+\}")
_SKIPPED = ("STYLE", "REGION")
_PARAGRAPH_SECONDS = 30
"""A paragraph goes on for at most this long: long enough to search in, short enough to find the place."""


class SubtitleReader:
    def read(self, source: ParserInput) -> Parsed:
        text, _ = decoded(source.path.read_bytes())
        out, title = Composer(), None
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if lines[0].lstrip("\ufeff").startswith("WEBVTT"):
            title = cleaned_line(lines[0].lstrip("\ufeff")[6:].strip(" -\t"))
            if title:
                out.heading(title, 1)
            lines = lines[_header_end(lines) :]
        _Cues(out).read(lines)
        return out.finished("subtitles", FileMetadata(title=title))


def _header_end(lines: list[str]) -> int:
    """The line after the header of a WebVTT file: its settings, such as `Kind: captions`, are not said."""
    at = 1
    while at < len(lines) and lines[at].strip() and "-->" not in lines[at]:
        at += 1
    return at


class _Cues:
    def __init__(self, out: Composer) -> None:
        self._out = out
        self._said: list[str] = []
        self._started = 0

    def read(self, lines: list[str]) -> None:
        cue: list[str] = []
        for line in (*lines, ""):
            if line.strip():
                cue.append(line)
            elif cue:
                self._cue(cue)
                cue = []
        self._end()

    def _cue(self, lines: list[str]) -> None:
        if lines[0].startswith("NOTE"):
            self._end()
            self._out.paragraph("\n".join(lines)[4:].strip())
            return
        at = next((number for number, line in enumerate(lines[:2]) if _TIMES.match(line)), None)
        if at is None:
            if not lines[0].startswith(_SKIPPED):
                self._say(lines)
            return
        times = _TIMES.match(lines[at])
        assert times is not None
        seconds = int(times[1] or 0) * 3600 + int(times[2]) * 60 + int(times[3])
        if not self._said or not 0 <= seconds - self._started < _PARAGRAPH_SECONDS:
            self._end()
            self._started = seconds
        self._say(lines[at + 1 :])

    def _say(self, lines: list[str]) -> None:
        for line in lines:
            speaker = _SPEAKER.search(line)
            words = html.unescape(_TAG.sub("", line)).strip()
            if words:
                self._said.append(f"{speaker[1].strip()}: {words}" if speaker else words)

    def _end(self) -> None:
        if self._said:
            hours, rest = divmod(self._started, 3600)
            clock = f"[{hours:02}:{rest // 60:02}:{rest % 60:02}]"
            self._out.paragraph(f"{clock} {' '.join(self._said)}")
            self._said = []


READER = SubtitleReader()
