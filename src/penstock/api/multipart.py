"""Reads an upload form as it arrives: the file's bytes are streamed, the other fields are kept."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser

from penstock.api.header_parameters import filename_of, parameters
from penstock.api.problem import HttpRefused
from penstock.errors import InvalidArgument, TooLarge

FIELDS_BYTES: Final = 1_048_576
"""The maximum size of all fields other than the file together."""
_FIELDS: Final = 32
_NAME_CHARACTERS: Final = 255
_PART_NAME_CHARACTERS: Final = 100
_PART_HEADERS: Final = 8
_PART_HEADER_BYTES: Final = 4_224
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class UploadForm:
    """A form with one part named `file`; `fields` is complete only after `content()` has ended.

    Nothing is buffered but the fields: the client's data is passed on chunk by chunk, so a slow reader slows
    the client down.
    """

    def __init__(self, content_type: str, body: AsyncIterator[bytes], *, digest: bool = False) -> None:
        self.fields: dict[str, str] = {}
        self.filename: str | None = None
        self.file_type: str | None = None
        self._body = body
        self._digest = hashlib.sha256() if digest else None
        self._chunks: deque[bytes] = deque()
        self._file_seen = self._file_over = self._over = False
        self._in_file = False
        self._name = ""
        self._value = bytearray()
        self._fields_bytes = 0
        self._headers: dict[str, str] = {}
        self._header_name, self._header_value = bytearray(), bytearray()
        self._parser = MultipartParser(
            _boundary(content_type),
            {
                "on_part_begin": self._part_begins,
                "on_header_field": self._header_named,
                "on_header_value": self._header_valued,
                "on_header_end": self._header_ends,
                "on_headers_finished": self._headers_end,
                "on_part_data": self._data,
                "on_part_end": self._part_ends,
                "on_end": self._form_ends,
            },
            max_header_count=_PART_HEADERS,
            max_header_size=_PART_HEADER_BYTES,
        )

    async def begin(self) -> None:
        """Read up to the file; then the fields before it, its name and its type are known."""
        async for chunk in self._body:
            self._feed(chunk)
            if self._file_seen:
                return
        self._finish()

    async def content(self) -> AsyncIterator[bytes]:
        """The file's bytes; it ends only after the rest of the form was read and found valid."""
        empty = True
        while True:
            while self._chunks:
                empty = False
                yield self._chunks.popleft()
            try:
                chunk = await anext(self._body)
            except StopAsyncIteration:
                break
            self._feed(chunk)
        self._finish()
        if empty:
            raise InvalidArgument("the file is empty", "file", "Send a file that is not empty")

    def digest(self) -> str:
        """A hash over every part, independent of the boundary."""
        assert self._digest is not None
        return self._digest.hexdigest()

    def _feed(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError as broken:
            raise HttpRefused(
                "bad-request", f"The form is malformed: {broken}", "Send multipart/form-data", field="body"
            ) from broken

    def _finish(self) -> None:
        if not self._over:
            raise HttpRefused(
                "bad-request",
                "The form ends before its last boundary",
                "Send the whole form again",
                field="body",
            )
        if not self._file_seen:
            raise InvalidArgument("the form has no file", "file", "Send the document as the part named file")

    def _part_begins(self) -> None:
        self._headers = {}
        self._value = bytearray()

    def _header_named(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _header_valued(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _header_ends(self) -> None:
        name = self._header_name.decode("latin-1").lower()
        self._headers[name] = self._header_value.decode("utf-8", "replace")
        self._header_name, self._header_value = bytearray(), bytearray()

    def _headers_end(self) -> None:
        name, filename = _disposition(self._headers.get("content-disposition", ""))
        self._name = name
        self._in_file = filename is not None or name == "file"
        if self._digest is not None:
            self._digest.update(repr((name, filename, self._headers.get("content-type"))).encode())
        if not self._in_file:
            if name in self.fields:
                raise InvalidArgument(f"the field {name} appears twice", name, "Send it once")
            if len(self.fields) >= _FIELDS:
                raise InvalidArgument(f"more than {_FIELDS} fields", "body", "Send fewer fields")
            return
        if name != "file":
            raise InvalidArgument(f"the file part is named {name!r}", "file", "Name it file")
        if self._file_seen:
            raise InvalidArgument("the form has two files", "file", "Send one file per request")
        self._file_seen = True
        self.filename = clean_filename(filename)
        self.file_type = self._headers.get("content-type")

    def _data(self, data: bytes, start: int, end: int) -> None:
        piece = data[start:end]
        if self._digest is not None:
            self._digest.update(piece)
        if self._in_file:
            self._chunks.append(piece)
            return
        self._fields_bytes += len(piece)
        if self._fields_bytes > FIELDS_BYTES:
            raise TooLarge(
                "the fields are over 1 MiB", self._name or "body", "Send less in addition to the file"
            )
        self._value += piece

    def _part_ends(self) -> None:
        if self._digest is not None:
            self._digest.update(b"\0end of part")
        if self._in_file:
            self._in_file = False
            return
        try:
            self.fields[self._name] = self._value.decode()
        except UnicodeDecodeError:
            raise InvalidArgument(
                f"the field {self._name} is not UTF-8", self._name or "body", "Send it as UTF-8"
            ) from None

    def _form_ends(self) -> None:
        self._over = True


def clean_filename(raw: str | None) -> str | None:
    """The bare file name as people know it, without folders or control characters."""
    bare = _CONTROLS.sub("", (raw or "").replace("\\", "/").rpartition("/")[2]).strip()
    return bare[-_NAME_CHARACTERS:] or None


def is_form(content_type: str | None) -> bool:
    return (content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"


def _boundary(content_type: str) -> bytes:
    """The boundary; raises an error that says what is missing."""
    if not is_form(content_type):
        raise HttpRefused(
            "unsupported-media-type",
            "The body must be multipart/form-data",
            'Send the document as the part "file" of a form: curl -F file=@…',
            field="Content-Type",
        )
    found = parameters(content_type).get("boundary", "")
    if not 1 <= len(found) <= 70 or not found.isascii():
        raise HttpRefused(
            "bad-request", "The form has no usable boundary", "Set it in Content-Type", field="Content-Type"
        )
    return found.encode("ascii")


def _disposition(value: str) -> tuple[str, str | None]:
    """The name and the filename of a part."""
    found = parameters(value)
    name = found.get("name", "").replace("%22", '"').encode("utf-8", "replace").decode()
    return name[:_PART_NAME_CHARACTERS], filename_of(found)
