"""Every reason for which a file cannot become text, each with a file made here."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import struct
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import psutil
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption  # type: ignore[import-untyped]  # it ships no types
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from penstock.cli.demo import files as demo_files
from penstock.errors import DocumentRejected
from penstock.model import Parsed, media
from penstock.pipeline.parser_pool import ParserPool
from penstock.pipeline.reasons import Reason
from penstock.settings import Settings
from tests.integration.compound_files import compound, msg
from tests.plugins.busy import stretched
from tests.plugins.parsing import Parse
from tests.plugins.workers import eventually

REPORT = demo_files.pdf("R", [["# Report", "Some words of a report. " * 30]] * 3)
LETTER = demo_files.docx("L", ["# Letter", "Some words of a letter. " * 30])


def refused(parse: Parse, content: bytes, filename: str, mime_type: str | None = None) -> DocumentRejected:
    with pytest.raises(DocumentRejected) as caught:
        parse(content, filename, mime_type)
    assert caught.value.remedy
    return caught.value


def encrypted_pdf() -> bytes:
    held = io.BytesIO()
    canvas = Canvas(held, encrypt=StandardEncryption("user", ownerPassword="owner"))
    canvas.drawString(100, 700, "secret words")
    canvas.save()
    return held.getvalue()


def zipped(entries: int, size: int) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number in range(entries):
            with archive.open(f"word/part{number}.xml", "w") as part:
                for _ in range(size >> 20 or 1):
                    part.write(bytes(min(size, 1 << 20)))
    return held.getvalue()


def huge_png() -> bytes:
    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", head)
        + part(b"IDAT", zlib.compress(bytes(1_000)))
        + part(b"IEND", b"")
    )


def nested_mail(depth: int) -> bytes:
    head = b"From: a@example.com\r\nTo: b@example.com\r\nSubject: deep\r\n"
    for level in range(depth):
        head += b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level)
    return head + b"\r\nwords"


@pytest.mark.parametrize(
    ("reason", "filename", "content"),
    [
        (Reason.ENCRYPTED, "locked.pdf", encrypted_pdf()),
        (Reason.ENCRYPTED, "locked.docx", compound({("EncryptedPackage",): bytes(5_000)})),
        (Reason.EMPTY, "nothing.txt", b""),
        (Reason.EMPTY, "blanks.txt", b"  \n\t\n " * 50),
        (Reason.EMPTY, "blank.pdf", demo_files.pdf("Blank", [[]])),
        (Reason.EMPTY, "script.html", b"<html><body><script>words()</script></body></html>"),
        (Reason.TRUNCATED, "half.pdf", REPORT[: len(REPORT) // 2]),
        (Reason.TRUNCATED, "half.docx", LETTER[: len(LETTER) // 2]),
        (Reason.TRUNCATED, "half.png", demo_files.scan_png(["Words to be cut off."])[:9_000]),
        (Reason.MALFORMED, "broken.pdf", b"%PDF-1.4\n" + b"garbage" * 100 + b"\n%%EOF\n"),
        (Reason.MALFORMED, "broken.msg", compound({("Other",): b"x" * 100})),
        (Reason.MALFORMED, "cut.msg", msg("S", "Body")[:1_024]),
        (Reason.BOMB, "bomb.docx", lambda: zipped(1, 200 << 20)),
        (Reason.BOMB, "many.docx", lambda: zipped(10_050, 1)),
        (Reason.BOMB, "huge.png", huge_png()),
        (Reason.BOMB, "deep.eml", nested_mail(50)),
        (Reason.UNSUPPORTED, "program", b"\x7fELF\x02\x01\x01" + bytes(200)),
        (Reason.UNSUPPORTED, "photos.7z", b"7z\xbc\xaf'\x1c" + bytes(200)),
        (Reason.MISMATCH, "noise.pdf", bytes(range(256)) * 8),
        (Reason.MISMATCH, "login.pdf", b"<html><body><p>Please log in first</p></body></html>"),
        (Reason.MISMATCH, "program.docx", b"\x7fELF\x02\x01\x01" + bytes(200)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_file_is_refused_with_its_reason(
    parse: Parse, reason: Reason, filename: str, content: bytes | Callable[[], bytes]
) -> None:
    assert refused(parse, content if isinstance(content, bytes) else content(), filename).code == reason


def test_content_that_contradicts_its_declared_type_is_refused(parse: Parse) -> None:
    assert refused(parse, b"just words, nothing more", "file", media.PDF).code == Reason.MISMATCH


def test_content_with_a_mark_of_its_own_is_trusted_over_its_name(parse: Parse) -> None:
    parsed = parse(LETTER, "letter.pdf")
    assert "Some words of a letter." in parsed.text
    assert parsed.warnings == (f"the file claims to be {media.PDF}, but is {media.DOCX}",)


@asynccontextmanager
async def parser_pool(**limits: object) -> AsyncIterator[ParserPool]:
    made = ParserPool(Settings.model_validate({"parse_processes": 1} | limits))
    await made.start()
    try:
        yield made
    finally:
        await made.close()


@cache
def _long() -> bytes:
    return demo_files.pdf("Long", [["Many words on every page of this file. " * 60]] * 500)


def long_pdf(tmp_path: Path) -> Path:
    path = tmp_path / "long.pdf"
    path.write_bytes(_long())
    return path


async def _refusal(made: ParserPool, path: Path, kind: str) -> DocumentRejected:
    with pytest.raises(DocumentRejected) as caught:
        await made.parse(path, mime_type=kind, filename=path.name)
    return caught.value


async def _works(made: ParserPool, tmp_path: Path) -> Parsed:
    path = tmp_path / "fine.txt"
    path.write_text("All is well.")
    return await made.parse(path, mime_type=media.TEXT, filename="fine.txt")


async def test_a_file_that_takes_too_long_fails(tmp_path: Path) -> None:
    async with parser_pool(parse_seconds=0.5) as made:
        error = await _refusal(made, long_pdf(tmp_path), media.PDF)
        assert error.code == Reason.TIMEOUT
        assert "PENSTOCK_PARSE_SECONDS" in str(error)
        made._settings = made._settings.model_copy(update={"parse_seconds": 60.0})  # enough on a busy machine
        assert (await _works(made, tmp_path)).text == "All is well."


async def test_a_file_that_uses_too_much_memory_fails(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"a,b,c,d,e,f,g,h\n" * 2_000_000)
    async with parser_pool(parse_memory_mb=200) as made:
        error = await _refusal(made, path, media.CSV)
        assert error.code == Reason.OOM
        assert "PENSTOCK_PARSE_MEMORY_MB" in str(error)
        assert (await _works(made, tmp_path)).text == "All is well."
        page = tmp_path / "fonts.html"
        # Browsers copy every font that was never closed into every paragraph after it.
        page.write_text("<p>" + "".join(f"<font size={n}>" for n in range(2_000)) + "<p>x" * 2_000)
        assert (await _refusal(made, page, media.HTML)).code == Reason.OOM


async def test_a_text_larger_than_allowed_fails(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"words and words\n" * 100_000)
    async with parser_pool(parse_output_mb=1) as made:
        assert (await _refusal(made, path, media.TEXT)).code == Reason.OUTPUT_TOO_LARGE


def _busy(made: ParserPool) -> int:
    """The process of a parse that has worked for a while, or 0."""
    (keeper,) = made.sandbox.pids
    below = psutil.Process(keeper).children(recursive=True)
    return next((one.pid for one in below[1:] if one.cpu_times().user > 0.2), 0)


async def test_a_file_that_crashes_the_parser_fails(tmp_path: Path) -> None:
    """The crash is a real signal in the middle of real parsing."""
    async with parser_pool() as made:
        call = asyncio.create_task(_refusal(made, long_pdf(tmp_path), media.PDF))
        await eventually(lambda: _busy(made))
        os.kill(_busy(made), signal.SIGSEGV)
        error = await call
        assert error.code == Reason.CRASH
        assert "SIGSEGV" in str(error)
        assert (await _works(made, tmp_path)).text == "All is well."


async def test_cancelling_a_parse_kills_its_process_within_two_seconds(tmp_path: Path) -> None:
    async with parser_pool() as made:
        call = asyncio.create_task(made.parse(long_pdf(tmp_path), mime_type=media.PDF, filename="long.pdf"))
        await eventually(lambda: _busy(made))
        pid = _busy(made)
        call.cancel()
        await eventually(lambda: not psutil.pid_exists(pid), within=stretched(2))
        await eventually(call.cancelled)
        assert (await _works(made, tmp_path)).text == "All is well."


async def test_without_language_data_a_picture_names_the_extra_and_downloads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path / "none"))
    path = tmp_path / "scan.pdf"
    path.write_bytes(demo_files.scan_pdf([["Words of a scan."]]))
    async with parser_pool() as made:
        error = await _refusal(made, path, media.PDF)
        assert error.code == Reason.OCR_UNAVAILABLE
        assert "pip install 'penstock[ocr]'" in str(error)
        path.write_bytes(demo_files.scan_png(["Words of a scan."]))
        assert (await _refusal(made, path, media.PNG)).code in (Reason.OCR_UNAVAILABLE, Reason.MISMATCH)


async def test_a_language_without_data_is_named(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    path.write_bytes(demo_files.scan_png(["Words of a scan."]))
    async with parser_pool(ocr_language="eng+xyz") as made:
        error = await _refusal(made, path, media.PNG)
        assert error.code == Reason.OCR_UNAVAILABLE
        assert "xyz.traineddata" in str(error)
