"""A PDF with one page of text, small enough to make by the thousand."""

from __future__ import annotations

from collections.abc import Sequence


def make_pdf(lines: Sequence[str], filling: bytes = b"") -> bytes:
    """The lines in Helvetica on one page; characters outside Latin-1 become question marks.

    `filling` makes the file larger: lines of comment that no reader shows.
    """
    return pdf_file(page_stream(lines), filling=filling)


def page_stream(lines: Sequence[str]) -> bytes:
    """What draws the page."""
    shown = b"".join(b"(" + escaped(line.encode("latin-1", "replace")) + b") Tj T*\n" for line in lines)
    return b"BT /F1 11 Tf 14 TL 56 780 Td\n" + shown + b"ET"


def pdf_file(
    stream: bytes, more: Sequence[bytes] = (), trailer: bytes = b"", *, filling: bytes = b""
) -> bytes:
    """A file with one page, further objects from number 6 on, and entries of the trailer."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        *more,
    )
    made = bytearray(b"%PDF-1.4\n" + filling)
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(made))
        made += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    made += b"trailer << /Size %d /Root 1 0 R%b >>\n" % (len(objects) + 1, trailer)
    made += b"startxref\n%d\n%%%%EOF\n" % start
    return bytes(made)


def escaped(text: bytes) -> bytes:
    """The inside of a string in parentheses."""
    plain = text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return plain.replace(b"\r", b"\\r").replace(b"\n", b"\\n")
