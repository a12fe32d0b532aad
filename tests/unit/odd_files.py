"""Writes long and odd PDF, DOCX, RTF and EPUB files of about a given size; nothing in them is compressed."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterable, Mapping

from penstock.cli.demo.files.pdf_maker import assembled

_FONTS = b"/Resources << /Font << /F 4 0 R >> >>"
_CONTAINER = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(pages: Iterable[bytes]) -> bytes:
    """A page for each stream of drawing commands; the font F is there."""
    streams = list(pages)
    kids = b" ".join(b"%d 0 R" % (5 + 2 * at) for at in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(streams)),
        b"<< >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for at, stream in enumerate(streams):
        box = b"/MediaBox [0 0 595 842]"
        objects.append(b"<< /Type /Page /Parent 2 0 R %b /Contents %d 0 R %b >>" % (box, 6 + 2 * at, _FONTS))
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    return assembled(objects, root=1)


def _text(words: Iterable[tuple[float, float, str]], size: int = 6) -> bytes:
    drawn = "\n".join(f"1 0 0 1 {x:.1f} {y:.1f} Tm ({word}) Tj" for x, y, word in words)
    return f"BT /F {size} Tf\n{drawn}\nET\n".encode()


def scattered_words(size: int) -> bytes:
    chance = random.Random(1)
    count = size // 36
    return pdf(
        [_text((chance.uniform(0, 580), chance.uniform(0, 830), f"w{at % 97}") for at in range(count))]
    )


def many_cells(size: int) -> bytes:
    """A table of numbers with lines around each."""
    rows = max(2, size // 400)
    cells = _text((30 + 50 * column, 830 - 8 * row, str(row)) for row in range(rows) for column in range(10))
    across = b"".join(b"25 %d m 530 %d l S\n" % (836 - 8 * row, 836 - 8 * row) for row in range(rows + 1))
    up = b"".join(b"%d 836 m %d %d l S\n" % (25 + 50 * at, 25 + 50 * at, 836 - 8 * rows) for at in range(11))
    return pdf([cells + across + up])


def columns_drawn_across(size: int) -> bytes:
    """Then the order of the layout and that of the file differ, and are compared."""
    starts = (30.0, 210.0, 390.0)
    return pdf(
        [
            _text(
                (x + 14 * place, 830 - 7 * at, word)
                for at in range(size // 520)
                for x in starts
                for place, word in enumerate(("line", "has", "four", "long", "here"))
            )
        ]
    )


def many_pages(size: int) -> bytes:
    header = (30.0, 820.0, "The same header"), (30.0, 700.0, "and its own words")
    return pdf([_text((*header, (30.0, 600.0, f"of {at}"))) for at in range(max(1, size // 330))])


def _zip(parts: Mapping[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def docx(body: str) -> bytes:
    office = "http://schemas.openxmlformats.org"
    related = f"{office}/package/2006/relationships"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    kind = f"{office}/officeDocument/2006/relationships/officeDocument"
    target = f'<Relationship Id="r1" Type="{kind}" Target="word/document.xml"/>'
    return _zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{related}">{target}</Relationships>',
            "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        }
    )


def short_runs(size: int) -> bytes:
    return docx("<w:p>" + "<w:r><w:rPr><w:b/></w:rPr><w:t>ab</w:t></w:r>" * (size // 46) + "</w:p>")


def short_paragraphs(size: int) -> bytes:
    return docx("<w:p><w:r><w:t>ab</w:t></w:r></w:p>" * (size // 37))


def wide_tables(size: int) -> bytes:
    cell = "<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>"
    return docx(("<w:tbl>" + ("<w:tr>" + cell * 30 + "</w:tr>") * 4 + "</w:tbl>") * max(1, size // 5_700))


def open_groups(size: int) -> bytes:
    half = min(9_000, size // 8)
    return (r"{\rtf1\ansi " + r"{\b a" * half + "}" * half + r"\par x " * (size // 24) + "}").encode()


def short_cells(size: int) -> bytes:
    return (r"{\rtf1\ansi " + r"\trowd\intbl a\cell b\cell\row " * (size // 31) + "}").encode()


def split_characters(size: int) -> bytes:
    return (r"{\rtf1\ansi " + r"\u-10179?\u-8704?" * (size // 17) + "}").encode()


def many_chapters(size: int) -> bytes:
    """Each is a file with an entry in the table of contents."""
    count = max(1, size // 330)
    items = "".join(
        f'<item id="c{at}" href="c{at}.html" media-type="application/xhtml+xml"/>' for at in range(count)
    )
    items += '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(count))
    points = "".join(
        f'<navPoint><navLabel><text>Chapter {at}</text></navLabel><content src="c{at}.html"/></navPoint>'
        for at in range(count)
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "b.opf": f"<package><metadata/><manifest>{items}</manifest><spine>{spine}</spine></package>",
        "toc.ncx": f"<ncx><navMap>{points}</navMap></ncx>",
    }
    return _zip(parts | {f"c{at}.html": f"<html><p>Chapter {at}</p></html>" for at in range(count)})


def one_chapter(size: int) -> bytes:
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "b.opf": '<package><metadata/><manifest><item id="c" href="c.html" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
    }
    return _zip(parts | {"c.html": "<html>" + "<h2>a</h2><p>b <i>c</i></p><ul><li>d" * (size // 39)})
