"""The words that OCR finds become paragraphs and tables, and say how sure it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.pipeline.parse.pdf_scans import is_readable
from penstock.pipeline.parse.recognition import described, warnings_of
from penstock.pipeline.parse.scan_words import words_of
from penstock.pipeline.parse.tessdata import how_to_install, installed_languages, missing_languages


def row(
    text: str, left: int, top: int, *, line: int = 1, paragraph: int = 1, block: int = 1, sure: float = 95
) -> str:
    width = 12 * len(text)
    return f"5\t1\t{block}\t{paragraph}\t{line}\t1\t{left}\t{top}\t{width}\t20\t{sure}\t{text}"


def test_lines_and_paragraphs_are_kept() -> None:
    page = words_of(
        "\n".join(
            [
                "1\t1\t0\t0\t0\t0\t0\t0\t600\t800\t-1\t",
                row("Every", 10, 10),
                row("gate", 80, 10),
                row("opens.", 10, 40, line=2),
                row("Nobody", 10, 90, paragraph=2),
                row("waits.", 110, 90, paragraph=2),
            ]
        )
    )
    assert page.markdown() == "Every gate\nopens.\n\nNobody waits."


def test_words_in_rows_and_columns_are_a_table_though_they_were_read_by_column() -> None:
    columns = [["Rope", "Anchor", "Lamp"], ["12", "7", "44"], ["1.20", "80.00", "9.95"]]
    page = words_of(
        "\n".join(
            [
                row("Stock", 10, 10),
                *(
                    row(cell, 10 + 200 * across, 60 + 30 * down, block=2 + across, line=down)
                    for across, column in enumerate(columns)
                    for down, cell in enumerate(column)
                ),
                row("Signed", 10, 300, block=9),
            ]
        )
    )
    assert page.markdown() == (
        "Stock\n\n| Rope | 12 | 1.20 |\n| --- | --- | --- |\n| Anchor | 7 | 80.00 |\n| Lamp | 44 | 9.95 |\n\n"
        "\nSigned"
    )


def test_two_columns_of_prose_are_no_table() -> None:
    texts = [["the harbour office", "recorded a survey", "of the eastern wall"]] * 2
    page = words_of(
        "\n".join(
            row(text, 10 + 400 * across, 60 + 30 * down, block=1 + across, line=down)
            for across, column in enumerate(texts)
            for down, text in enumerate(column)
        )
    )
    assert page.markdown() == "\n\n".join("\n".join(column) for column in texts)


def test_what_looks_like_markdown_on_paper_is_text() -> None:
    page = words_of("\n".join([row("#", 0, 0), row("4", 40, 0), row("----", 0, 40, line=2)]))
    assert page.markdown().strip() == "\\# 4"


def test_confidence_is_that_of_the_characters() -> None:
    page = words_of("\n".join([row("Winterbourne", 0, 0, sure=90), row("abc", 200, 0, sure=30)]))
    assert page.confidence == pytest.approx((12 * 90 + 3 * 30) / 15)
    assert page.worth == pytest.approx(12 * 90)
    assert words_of("").confidence == 0.0


def test_specks_are_no_words_and_broken_rows_are_skipped() -> None:
    page = words_of("\n".join([row("~", 0, 0, sure=12), row(" ", 0, 0), "5\t1\t1", row("weir", 9, 9)]))
    assert [word.text for word in page.words] == ["weir"]


def test_doubtful_pages_are_named_and_many_are_summed_up() -> None:
    assert warnings_of({1: 96.2, 3: 41.4}) == ["page 3 was hard to read (confidence 41 of 100)"]
    many = warnings_of(dict.fromkeys(range(1, 31), 12.0))
    assert (len(many), many[-1]) == (21, "10 more pages were hard to read: 21-30")
    assert described({2: 41.4, 1: 96.0}) == {"ocr_confidence": "1: 96, 2: 41"}
    assert described({}) == {}


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("The harbour office recorded the annual survey of the eastern wall. " * 2, True),
        ("Przedsiębiorstwo wodociągowe; Straße, Brücke, Fluß; Århus, Øresund, Ærø. " * 2, True),
        ("Отчёт портового управления о состоянии восточной стены за год. " * 2, True),  # noqa: RUF001
        ("港湾局は東側の壁の年次調査を記録した。" * 5, True),
        ("12.50 13,775.00 | 1 204 331 | 2025-01-31 | 99.99 % " * 3, True),
        ("!\"# $%& '()* +,-. /012 " * 10, False),
        ("\ue001\ue002\ue003 \ue004\ue005 " * 20, False),
        ("Vjg jctdqwt qhhkeg tgeqtfgf vjg cppwcn uwtxga qh vjg gcuvgtp ycnn " * 3, False),
        ("#!", True),
    ],
)
def test_a_text_layer_is_judged_by_its_characters(text: str, readable: bool) -> None:
    assert is_readable(text) is readable


def test_a_missing_language_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    for name in ("eng", "osd"):
        (tmp_path / f"{name}.traineddata").write_bytes(b"")
    assert installed_languages() == ["eng"]
    assert missing_languages("eng+deu+xyz") == ["deu", "xyz"]
    said = how_to_install(["deu", "xyz"])
    assert "pip install 'penstock[ocr-deu]'" in said
    assert f"xyz.traineddata of github.com/tesseract-ocr/tessdata_fast into {tmp_path}" in said
