"""Cleaning, dates, languages, HTML and compound files, without a process around them."""

from __future__ import annotations

import re
import struct
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.parse.clean import cleaned, cleaned_line, moment
from penstock.pipeline.parse.compound import CompoundDamaged, CompoundFile
from penstock.pipeline.parse.language import guess
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.result import primary
from penstock.pipeline.reasons import _REMEDIES, Reason
from tests.integration.compound_files import compound

ROOT = Path(__file__).parents[2]


def test_controls_and_broken_characters_are_dropped() -> None:
    assert cleaned("a\0b\x07c\x7f\r\nd\re\u00ad\ufefff\u00a0g\ud800") == "abc\nd\nef g?"
    assert cleaned("x  \n\n\n\n y\f z") == "x\n\n y\n\n z"


@given(st.text(st.characters(codec=None)))
def test_cleaned_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    once = cleaned(text)
    assert "\0" not in once
    once.encode("utf-8")
    assert cleaned(once) == once


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("  A\n title ", "A title"),
        ("Microsoft Word - Report.doc", "Report.doc"),
        ("untitled", None),
        ("(anonymous)", None),
        ("", None),
        (None, None),
    ],
)
def test_placeholders_that_programs_write_are_not_titles(value: str | None, line: str | None) -> None:
    assert cleaned_line(value) == line


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-05-06", datetime(2024, 5, 6, tzinfo=UTC)),
        ("2024-05-06T10:00:00Z", datetime(2024, 5, 6, 10, tzinfo=UTC)),
        ("Mon, 06 May 2024 12:00:00 +0200", datetime(2024, 5, 6, 10, tzinfo=UTC)),
        ("D:20240506101112Z", datetime(2024, 5, 6, 10, 11, 12, tzinfo=UTC)),
        ("D:2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("soon", None),
        (None, None),
    ],
)
def test_dates_are_read_as_files_write_them(value: str | None, expected: datetime | None) -> None:
    assert moment(value) == expected


GUESSES = [
    ("en", "The report of the year was read by all who had been at the meeting and is to be kept."),
    (
        "de",
        "Der Bericht über das Jahr wurde von allen gelesen, und er ist auch für die Kunden nicht neu.",
    ),
    (
        "fr",
        "Le rapport de l'année est dans les mains de tous ceux qui sont venus pour la réunion avec nous.",
    ),
    (
        "es",
        "El informe del año es para los clientes que vienen con las cuentas de este año.",
    ),
    (
        "it",
        "Il rapporto di questo anno è nelle mani di tutti, e non sono pochi gli errori nel testo.",
    ),
    (
        "pt",
        "O relatório do ano não foi lido por todos os que vieram com as contas da empresa.",
    ),
    (
        "nl",
        "Het verslag van dit jaar is door een deel van de klanten niet gelezen en wordt bewaard.",
    ),
    ("da", "Rapporten blev læst af alle, og den er ikke mere ny efter mødet, som vi har hørt fra kunderne."),
    ("no", "Rapporten ble lest av alle, og den er ikke mer ny etter møtet, som vi har hørt fra kundene."),
    ("sv", "Rapporten lästes av alla som var på mötet, och det är inte en nyhet för de kunder som har den."),
    ("fi", "Raportti on luettu, ja se ei ole uusi, mutta myös asiakkaat ovat sitä mieltä että se oli hyvä."),
    ("hu", "A jelentés nem új, és az ügyfelek is azt mondják, hogy ez csak egy része volt az évnek."),
    ("ro", "Raportul este pentru clienții care au fost la ședință și nu sunt mai multe greșeli în text."),
    ("tr", "Bu rapor toplantı için hazırlandı ve çok uzun olarak değil, daha kısa bir metin gibi yazıldı."),  # noqa: RUF001
    ("ru", "Отчёт за этот год прочитали все, кто был на собрании, и новых ошибок в нём не нашли."),
    ("el", "Η έκθεση του έτους διαβάστηκε από όλους όσοι ήταν στη συνάντηση."),  # noqa: RUF001
    ("ar", "قرأ الجميع تقرير هذا العام بعد الاجتماع ولم يجدوا فيه أخطاء."),
    (None, "Звіт за цей рік прочитали всі, хто був на зборах, і нових помилок не знайшли."),  # noqa: RUF001
    (None, "Докладът за тази година беше прочетен от всички и в него няма нови грешки."),
    (None, "گزارش امسال را همه پس از جلسه خواندند و خطایی در آن پیدا نکردند."),
    (None, "Rapporten er god, og den er til det."),
    (None, "x = 1; y = 2; z | x"),
    (None, "Das the le el"),
    (None, ""),
]


@pytest.mark.parametrize(("language", "text"), GUESSES)
def test_the_language_is_guessed_or_left_open(language: str | None, text: str) -> None:
    assert guess(text) == language


def test_every_language_with_a_search_configuration_can_be_guessed() -> None:
    sql = (ROOT / "src/penstock/sql/ingest/functions/text_config_of.sql").read_text()
    mapped = set(re.findall(r"when '(\w\w)' then '\w+'", sql)) - {"nb", "nn"}  # both are written as `no`
    assert len(mapped) == 17
    assert mapped == {guess(text) for _, text in GUESSES} - {None}


def test_a_language_tag_is_cut_to_its_language() -> None:
    assert [primary(tag) for tag in ("de-AT", "EN_us", "fr", "x", None)] == ["de", "en", "fr", None, None]


PAGE = """<!doctype html><html lang="de-DE"><head><title>Die &amp; Seite</title>
<meta name="author" content="H. Autor"><meta property="article:published_time" content="2024-05-06T10:00:00Z">
<style>p { color: red }</style><script>var secret = "<p>no</p>";</script></head>
<body><nav><a href="/x">Menu</a></nav><h1>Kopf</h1>
<p>Ein <b>fetter</b> Satz<br>mit <a href="https://x.example/z">Verweis</a>.<p># kein Kopf
<ul><li>eins<li><p>zwei</p><ol><li>drei</ol></ul>
<table><tr><th>A<th>B|C<tr><td>1<td>zwei<br>Zeilen</table>
<table><tr><td><h2>Layout</h2><p>Links</p></td><td><table><tr><td>x</td><td>y</td></tr></table></td></tr></table>
<pre><code>x = 1
  y = 2</code></pre><img src="data:image/png;base64,AAAA" alt="Bild"><div hidden>weg</div>
<div style="display: none">auch weg</div></body></html>"""


def test_a_page_keeps_its_structure_and_loses_its_scripts() -> None:
    page = web_page(PAGE)
    assert page.text == "\n\n".join(
        [
            "# Kopf",
            "Ein fetter Satz\nmit Verweis.",
            "\\# kein Kopf",
            "- eins\n- zwei\n  1. drei",
            "| A | B\\|C |\n| --- | --- |\n| 1 | zwei Zeilen |",
            "## Layout",
            "Links",
            "| x | y |\n| --- | --- |",
            "```\nx = 1\n  y = 2\n```",
            "Bild",
        ]
    )
    about = page.about
    assert (about.title, about.author, about.language) == ("Die & Seite", "H. Autor", "de")
    assert about.created_at == datetime(2024, 5, 6, 10, tzinfo=UTC)


@given(
    st.lists(
        st.sampled_from(
            ["<table>", "</table>", "<td>", "<tr>", "<li>", "<ul>", "</ul>", "<pre>", "x", "<h1>", "</nav>"]
        )
    )
)
def test_no_order_of_tags_makes_it_fail(tags: list[str]) -> None:
    assert web_page("".join(tags)).text.count("x") == tags.count("x")


def test_a_compound_file_gives_back_its_streams() -> None:
    streams = {("small",): b"s" * 100, ("folder", "large"): b"l" * 10_000, ("folder", "deep", "empty"): b""}
    file = CompoundFile(compound(streams))
    assert {path: file.stream(*path) for path in streams} == streams
    assert file.stream("folder") is None
    assert file.stream("nothing") is None


@given(at=st.integers(0, 3_000), value=st.integers(0, 255), length=st.integers(0, 6_000))
def test_a_damaged_compound_file_is_an_error_and_never_a_loop(at: int, value: int, length: int) -> None:
    whole = bytearray(compound({("a", "b"): b"x" * 900, ("c",): b"y" * 5_000}))
    whole[at] = value
    try:
        file = CompoundFile(bytes(whole[: len(whole) - length]))
        for path in file.entries:
            file.stream(*path)
    except (CompoundDamaged, ValueError, OverflowError):
        pass


def test_a_circle_of_sectors_is_an_error_whatever_size_is_claimed() -> None:
    whole = bytearray(compound({("large",): b"y" * 200_000}))
    (table,) = struct.unpack_from("<I", whole, 76)
    (directory,) = struct.unpack_from("<I", whole, 48)
    struct.pack_into("<I", whole, 512 * (table + 1) + 4 * 10, 5)
    struct.pack_into("<Q", whole, 512 * (directory + 1) + 128 + 120, 0xFFFFFFFF)
    with pytest.raises(CompoundDamaged, match="cycle"):
        CompoundFile(bytes(whole)).stream("large")


def test_a_folder_whose_names_form_one_long_chain_is_read() -> None:
    names = [f"{number:04}" for number in range(2_000)]
    file = CompoundFile(compound({(name,): b"" for name in names}))
    assert sorted(path[0] for path in file.entries if path) == names


def test_every_reason_has_a_remedy() -> None:
    assert set(_REMEDIES) == set(Reason)
