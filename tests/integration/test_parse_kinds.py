"""Every kind of file becomes text with its structure, its attachments and what it says of itself."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import openpyxl  # type: ignore[import-untyped]  # no types are installed
import pptx
import pytest
from docx import Document
from PIL import Image
from pptx.util import Inches

from penstock.cli.demo import files as demo_files
from penstock.model import Attachment, Parsed, media
from penstock.pipeline.parse.table import markdown_table
from tests.integration.compound_files import msg
from tests.plugins.parsing import Parse
from tests.unit.test_parse_blocks import assert_covers

ROWS = [
    ["Quarter", "Revenue", "Cost"],
    ["Q1 2025", "1,204,331", "803,112"],
    ["Q2 2025", "1,310,000", "820,000"],
]
TABLE = markdown_table(ROWS)
PROSE = (
    "The company earned more in this year than in the year before, and it is to be seen in the table below."
)
ANNA = "Anna Ash <anna@example.com>"
WHEN = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)


def shown(parsed: Parsed) -> list[tuple[str, int, str]]:
    assert_covers(parsed.text, parsed.blocks)
    return [(block.kind, block.level, parsed.text[block.start : block.end]) for block in parsed.blocks]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_text_in_any_usual_encoding(parse: Parse, encoding: str) -> None:
    parsed = parse("Grüße aus Köln, „schön“\r\n\r\n# kein Kopf".encode(encoding), "gruss.txt")
    assert shown(parsed) == [("paragraph", 0, "Grüße aus Köln, „schön“"), ("paragraph", 0, "# kein Kopf")]
    assert parsed.parser == "text"


def test_nuls_in_a_text_do_not_reach_the_index(parse: Parse) -> None:
    assert parse(b"one word\n" * 40 + b"x\0y\n", "log.txt", media.TEXT).text.endswith("xy")


def test_markdown_with_front_matter(parse: Parse) -> None:
    front = '---\ntitle: "The Plan"\nauthor: Anna\ndate: 2025-03-04\nlang: en-GB\n---\n'
    parsed = parse(f"{front}# Plan\n\nDo *it*.\n\n- a\n- b\n".encode(), "plan.md")
    assert shown(parsed) == [("heading", 1, "# Plan"), ("paragraph", 0, "Do *it*."), ("list", 0, "- a\n- b")]
    assert (parsed.title, parsed.author, parsed.language) == ("The Plan", "Anna", "en")
    assert parsed.created_at == datetime(2025, 3, 4, tzinfo=UTC)


def test_html_without_its_scripts_and_menus(parse: Parse) -> None:
    page = demo_files.html("A Page", ["# Head", PROSE, ROWS], author="H. Writer", language="fr")
    parsed = parse(page, "page.html")
    assert shown(parsed) == [("heading", 1, "# Head"), ("paragraph", 0, PROSE), ("table", 0, TABLE)]
    assert (parsed.title, parsed.author, parsed.language) == ("A Page", "H. Writer", "fr")
    assert "tracked" not in parsed.text
    assert "Start" not in parsed.text


def test_html_in_the_encoding_it_declares(parse: Parse) -> None:
    page = '<html><head><meta charset="iso-8859-2"></head><body><p>Łódź</p></body></html>'.encode(
        "iso-8859-2"
    )
    assert parse(page, "a.html").text == "Łódź"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_is_one_table(parse: Parse, delimiter: str) -> None:
    rows = [["name", f'"long{delimiter}name"', "sum"], ["a|b", "x", "1"], ["c", "", "2"]]
    parsed = parse("\n".join(delimiter.join(row) for row in rows).encode(), "list.csv")
    head = " ".join(f"long{delimiter}name".split())
    table = f"| name | {head} | sum |\n| --- | --- | --- |\n| a\\|b | x | 1 |\n| c |  | 2 |"
    assert shown(parsed) == [("table", 0, table)]


def test_docx_made_by_hand(parse: Parse) -> None:
    made = demo_files.docx("A Report", ["# Head", PROSE, "## Part", ROWS], author="D. Writer", created=WHEN)
    parsed = parse(made, "report.docx")
    assert shown(parsed) == [
        ("heading", 1, "# Head"),
        ("paragraph", 0, PROSE),
        ("heading", 2, "## Part"),
        ("table", 0, TABLE),
    ]
    assert (parsed.title, parsed.author, parsed.language) == ("A Report", "D. Writer", "en")
    assert parsed.created_at == parsed.modified_at == WHEN


def test_docx_as_a_word_processor_writes_it(parse: Parse) -> None:
    document = Document()
    document.add_heading("Chapter", 1)
    document.add_paragraph("Names like snake_case, 5 * 3 and <tag> stay as they are.")
    document.add_paragraph("first", style="List Bullet")
    document.add_paragraph("second", style="List Bullet")
    held = io.BytesIO()
    document.save(held)
    assert shown(parse(held.getvalue(), "a.docx")) == [
        ("heading", 1, "# Chapter"),
        ("paragraph", 0, "Names like snake_case, 5 * 3 and <tag> stay as they are."),
        ("list", 0, "- first\n- second"),
    ]


def test_pptx_with_what_the_speaker_noted(parse: Parse) -> None:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Welcome"
    first.placeholders[1].text = "Point A"
    first.notes_slide.notes_text_frame.text = "Say hello to the board."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Figures"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for at, words in enumerate(["Key", "Value", "k1", "v1"]):
        table.cell(at // 2, at % 2).text = words
    deck.core_properties.author = "P. Speaker"
    held = io.BytesIO()
    deck.save(held)
    parsed = parse(held.getvalue(), "talk.pptx")
    assert [(block.page, *said) for block, said in zip(parsed.blocks, shown(parsed), strict=True)] == [
        (1, "heading", 2, "## Welcome"),
        (1, "paragraph", 0, "Point A"),
        (1, "paragraph", 0, "Notes: Say hello to the board."),
        (2, "heading", 2, "## Figures"),
        (2, "table", 0, "| Key | Value |\n| --- | --- |\n| k1 | v1 |"),
    ]
    assert (parsed.page_count, parsed.author) == (2, "P. Speaker")


def test_xlsx_is_a_table_under_each_sheets_name(parse: Parse) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Sales"
    for row in (["Name", "Sum"], ["x|y", 5.5], ["z", None]):
        sheet.append(row)
    book.create_sheet("Other").append(["only", "row"])
    book.create_sheet("Nothing")
    book.properties.title = "Book"
    held = io.BytesIO()
    book.save(held)
    parsed = parse(held.getvalue(), "book.xlsx")
    assert shown(parsed) == [
        ("heading", 2, "## Sales"),
        ("table", 0, "| Name | Sum |\n| --- | --- |\n| x\\|y | 5.5 |\n| z |  |"),
        ("heading", 2, "## Other"),
        ("table", 0, "| only | row |\n| --- | --- |"),
    ]
    assert parsed.title == "Book"


def test_a_spreadsheet_of_120_000_cells_is_read_whole(parse: Parse) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Long")
    for number in range(12_000):
        sheet.append([f"r{number}", *range(9)])
    held = io.BytesIO()
    book.save(held)
    text = parse(held.getvalue(), "long.xlsx").text
    assert text.count("\n") == 12_002
    assert "| r11999 | 0 |" in text


REPORT = demo_files.pdf("The Report", [[PROSE]])


def test_a_mail_and_its_attachments_become_separate_documents(parse: Parse) -> None:
    inner = Attachment("inner.eml", demo_files.eml("Inner", "Deep words."), None)
    mail = demo_files.eml(
        "The figures",
        "Dear Ben,\n\nfind the report attached.\n",
        sent=WHEN,
        attachments=[
            Attachment("report.pdf", REPORT, media.PDF),
            Attachment("../../etc/notes.txt", b"Notes.", media.TEXT),
            Attachment(inner.filename, inner.content, None),
        ],
    )
    parsed = parse(mail, "figures.eml")
    assert shown(parsed) == [
        ("heading", 1, "# The figures"),
        (
            "paragraph",
            0,
            f"From: {ANNA}\nTo: Ben Birch <ben@example.com>\nDate: Tue, 04 Mar 2025 05:06:07 +0000",
        ),
        ("paragraph", 0, "Dear Ben,"),
        ("paragraph", 0, "find the report attached."),
    ]
    assert (parsed.title, parsed.author, parsed.created_at) == ("The figures", ANNA, WHEN)
    assert [(one.filename, one.mime_type) for one in parsed.attachments] == [
        ("report.pdf", media.PDF),
        ("notes.txt", media.TEXT),
        ("inner.eml", media.UNKNOWN),
    ]
    assert parsed.attachments[0].content == REPORT


def test_a_forwarded_mail_is_an_attachment_that_can_be_read_itself(parse: Parse) -> None:
    from email import message_from_bytes, policy
    from email.message import EmailMessage

    outer = EmailMessage()
    outer["From"], outer["To"], outer["Subject"] = "a@example.com", "b@example.com", "Fwd"
    outer.set_content("See below.")
    outer.add_attachment(message_from_bytes(demo_files.eml("Inner", "Deep words."), policy=policy.default))
    parsed = parse(bytes(outer), "fwd.eml")
    assert "Deep words" not in parsed.text
    (inner,) = parsed.attachments
    assert (inner.filename, inner.mime_type) == ("Inner.eml", media.EML)
    assert "Deep words." in parse(inner.content, inner.filename).text


def test_a_mail_in_html_only_is_read_as_a_page(parse: Parse) -> None:
    head = "From: a@example.com\r\nTo: b@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    mail = f"{head}Content-Type: text/html; charset=latin-1\r\n\r\n<p>Schön<script>x()</script></p>"
    parsed = parse(mail.encode("latin-1"), "a.eml")
    assert parsed.title == "Grüße"
    assert parsed.text.endswith("\n\nSchön")


def test_malformed_html_keeps_its_words_in_pages_and_mails(parse: Parse) -> None:
    html = "<h1>Title</h1><p>first</p><ul><li hidden>x<li>second</ul><p>third</p><a href='"
    text = "# Title\n\nfirst\n\n- second\n\nthird"
    assert parse(html.encode(), "a.html").text == text
    head = "From: a@example.com\r\nTo: b@example.com\r\nSubject: s\r\nContent-Type: text/html\r\n\r\n"
    assert parse((head + html).encode(), "a.eml").text.endswith(text)


def test_an_outlook_message_and_its_attachments_become_separate_documents(parse: Parse) -> None:
    parsed = parse(
        msg("Figures", "Dear Ben,\n\nsee the report.", attachments={"r.pdf": REPORT}), "figures.msg"
    )
    assert [said for _, _, said in shown(parsed)] == [
        "# Figures",
        "From: Anna Ash <anna@example.com>\nTo: Ben Birch\nDate: Wed, 01 Jan 2025 00:00:00 +0000",
        "Dear Ben,",
        "see the report.",
    ]
    assert parsed.created_at == datetime(2025, 1, 1, tzinfo=UTC)
    assert [(one.filename, one.content) for one in parsed.attachments] == [("r.pdf", REPORT)]


def as_format(scan: bytes, format_name: str) -> bytes:
    held = io.BytesIO()
    options = {"compression": "tiff_lzw"} if format_name == "TIFF" else {}
    Image.open(io.BytesIO(scan)).convert("RGB").save(held, format_name, **options)
    return held.getvalue()


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP"])
def test_the_words_in_a_picture_are_read(parse: Parse, format_name: str) -> None:
    scan = demo_files.scan_png(
        ["# Delivery note", "Four turbines were delivered to the mill at Winterbourne."]
    )
    parsed = parse(as_format(scan, format_name), f"scan.{format_name.lower()}")
    assert "Delivery note" in parsed.text
    assert "Four turbines were delivered to the mill at Winterbourne." in " ".join(parsed.text.split())
    assert (parsed.parser, parsed.page_count, {block.page for block in parsed.blocks}) == ("ocr", 1, {1})
