"""Which words a search looks for: misspelt ones, parts of compounds, and words of several languages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from penstock.model import uuid7
from penstock.search import SearchQuery
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

WORDS = "select lexeme, share, is_added from search.query_words($1) order by 1"


async def project_of(tenant: IndexedTenant, text_config: str) -> UUID:
    project_id = uuid7()
    await tenant.admin.execute(
        "insert into accounts.project"
        " (project_id, tenant_id, slug, name, embedder, text_config, created_at)"
        " values ($1, $2, $3, $3, 'words', $3, now())",
        project_id,
        tenant.tenant_id,
        text_config,
    )
    return project_id


async def words(tenant: IndexedTenant, query: str) -> dict[str, tuple[float, bool]]:
    async with tenant.admin.transaction():
        await tenant.admin.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant.tenant_id))
        rows = await tenant.admin.fetch(WORDS, query)
    return {row["lexeme"]: (row["share"], row["is_added"]) for row in rows}


@pytest.mark.parametrize(
    "typo", ["conductoin", "conducton", "condduction", "comduction", "Conductiom", "xconduction"]
)
async def test_a_misspelt_word_finds_what_the_right_one_finds(database: Database, typo: str) -> None:
    async with indexed_tenant(database) as tenant:
        right = await tenant.put("heat conduction in slabs")
        for place in range(5):
            await tenant.put(f"a report about subject{place} and heat")
        for counted in (False, True):
            if counted:
                await tenant.index.maintain()
            assert await tenant.found(f"{typo} of slabs", mode="text") == [right]
            hit = (await tenant.find(f"{typo} of slabs", mode="text"))[0]
            assert hit.coverage == pytest.approx(1)
            assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == [
                "conduction",
                "slabs",
            ]


async def test_a_word_that_is_in_a_document_is_not_corrected(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("the weather", "the leather")
        rare = await tenant.put("feather")
        assert await words(tenant, "feather") == {"feather": (1, False)}
        assert await tenant.found("feather", mode="text") == [rare]


async def test_identifiers_and_short_words_are_not_corrected(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("part ax7731b of the gate in 20241")
        for query in ("ax7731c", "gats", "20242"):
            assert await tenant.find(query, mode="text") == (), query


async def test_a_word_is_only_corrected_to_words_of_the_same_tenant(database: Database) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        await other.put("conduction")
        await tenant.put("heat")
        assert set(await words(tenant, "conductoin")) == {"conductoin"}


async def test_a_compound_finds_its_parts_and_parts_find_the_compound(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        german = await project_of(tenant, "german")
        apart = await tenant.put("Der Vertrag regelt die Wartung der Anlage.", project_id=german)
        for text in ("Ein Bericht vom Fluss", "Die Wartung der Straße", "Ein Vertrag mit der Bank"):
            await tenant.put(text, project_id=german)
        assert (await tenant.found("Wartungsvertrag", mode="text"))[0] == apart
        assert await words(tenant, "Wartungsvertrag") == {"vertrag": (0.5, False), "wartung": (0.5, False)}
        together = await tenant.put("Die Wartungsverträge liegen im Schrank.", project_id=german)
        assert (await tenant.found("Wartungsvertrag", mode="text"))[:2] == [together, apart]
        assert set((await tenant.found("Vertrag über Wartung", mode="text"))[:2]) == {apart, together}
        known = await words(tenant, "Wartungsvertrag")
        assert known == {
            "wartungsvertrag": (1, False),
            "wartung": (0.5, True),
            "vertrag": (0.5, True),
        }
        exact = (await tenant.find("Wartungsvertrag", mode="text"))[0]
        assert exact.coverage == pytest.approx(1)


async def test_an_english_tenant_pays_nothing_for_compounds(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("water wheel", "waterwheel")
        assert await words(tenant, "waterwheel wheels water") == {
            "waterwheel": (1, False),
            "wheel": (1, False),
            "water": (1, False),
        }


async def test_a_stop_word_of_one_language_is_not_a_rare_word_of_another(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        german = await project_of(tenant, "german")
        await tenant.put("Der Film heißt The Gate", project_id=german)
        english = await tenant.put("the budget for the year")
        for place in range(10):
            await tenant.put(f"Bericht{place} vom Fluss", project_id=german)
        await tenant.index.maintain()
        assert await tenant.found("what is the budget", mode="text") == [english]
        assert set(await words(tenant, "what is the budget")) == {"budget"}
        assert "the" in await words(tenant, "the")


TYPOGRAPHY = [
    ("the \u201cpenstock\u201d of the mill", "penstock"),
    ("gate\u2014penstock\u2014wheel", "penstock"),
    ("open it\u2026penstock", "penstock"),
    ("\u2022penstock \u2022sluice", "sluice"),
    ("the\u00a0penstock\u00a0leaks", "penstock"),
    ("\u00bfPenstock? \u00a1Penstock!", "penstock"),
    ("\u00abpenstock\u00bb \u201epenstock\u201c", "penstock"),
    ("the pen\u00adstock", "penstock"),
    ("the penstock\u2019s gate", "penstock"),
    ("\uff08penstock\uff09\u3002", "penstock"),
    ("penstock\u2705", "penstock"),
    ("na\u00efve caf\u00e9", "na\u00efve"),
]


@pytest.mark.parametrize(("text", "word"), TYPOGRAPHY)
async def test_a_word_is_found_whatever_signs_stand_beside_it(
    database: Database, text: str, word: str
) -> None:
    """In the locale C every character beyond ASCII is a letter to text search."""
    async with indexed_tenant(database) as tenant:
        document = await tenant.put(text)
        for query in (word, f"\u201c{word}\u201d", f"\u00bf{word}?"):
            (hit,) = await tenant.find(query, mode="text")
            assert (hit.document_id, hit.text) == (document, text)
            assert hit.coverage == pytest.approx(1)


async def test_a_snippet_marks_the_word_and_keeps_the_signs_beside_it(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("It\u2019s a \u201cpenstock\u201d\u2014not a sluice\u2026")
        (hit,) = await tenant.find("penstock", mode="text")
        assert hit.snippet.html == "<mark>penstock</mark>\u201d\u2014not a sluice"


RESPELT = "select search.respelt($1)"


@pytest.mark.parametrize(
    ("query", "read_as"),
    [
        ("Who measures conductoin, and where?", "Who measures conduction, and where?"),
        ("sllabs: what is their condduction?", "slabs: what is their conduction?"),
        ("intake screeen", "intake screen"),
        ("conduction in slabs", None),
        ("the weather in Milan", None),
        ("who was Conductoin", None),
        ("who was CONDUCTOIN", "who was conduction"),
        ("Conductoin of what", "conduction of what"),
        ("slabz", None),
        ("conductoin-7 of a slb", "conduction-7 of a slb"),
        ("", None),
        ("%s \\ ' conductoin \\M", "%s \\ ' conduction \\M"),
    ],
)
async def test_words_that_no_document_contains_are_respelt(
    database: Database, query: str, read_as: str | None
) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        await tenant.put("somebody measures the conduction of heat in slabs", "the intake screens are clean")
        await other.put("the weather of today", "the leather", "conductors")
        for counted in (False, True):
            if counted:
                await tenant.index.maintain()
            assert (await tenant.rows(RESPELT, query))[0][0] == read_as


async def test_a_local_model_reads_the_corrected_query_and_a_remote_one_what_was_typed(
    database: Database,
) -> None:
    async with indexed_tenant(database) as tenant:
        right = await tenant.put("conduction")
        await tenant.put("weather", "leather")

        async def asked(**options: Any) -> tuple[str | None, bool]:
            """What the query was read as, and whether the document is as near as to the right word."""
            wrong, spelt = [
                await tenant.search.search(tenant.tenant_id, SearchQuery(query=query, **options))
                for query in ("conductoin", "conduction")
            ]
            nearness = [
                next(h.vector_score for h in a.hits if h.document_id == right) for a in (wrong, spelt)
            ]
            assert spelt.read_as is None
            return wrong.read_as, nearness[0] is not None and nearness[0] == nearness[1]

        assert await asked(mode="vector") == ("conduction", True)
        assert await asked() == ("conduction", True)
        assert await asked(mode="text") == (None, False)
        tenant.words.is_remote = True
        assert await asked(mode="vector") == (None, False)


@pytest.mark.parametrize("dash", ["-", "\u2010", "\u2011", "\u2012", "\u2013"])
async def test_a_number_after_a_dash_is_found_whatever_the_dash(database: Database, dash: str) -> None:
    async with indexed_tenant(database) as tenant:
        right = await tenant.put(f"the total of Nr{dash}1001 is due")
        await tenant.put("the total of another one is due")
        for asked in ("-", "\u2010", "\u2011", "\u2012", "\u2013", " ", " no. "):
            (hit,) = await tenant.find(f"Nr{asked}1001", mode="text")
            assert hit.document_id == right, asked
            assert hit.coverage == pytest.approx(1 if asked != " no. " else hit.coverage), asked
            marked = [hit.snippet.text[start:end].lstrip("-") for start, end in hit.snippet.marks]
            assert marked == ["Nr", "1001"], asked


async def test_a_number_with_a_dash_in_the_query_finds_the_plain_number(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        plain = await tenant.put("the invoice 1001 is due")
        await tenant.put("the invoice 2002 is due")
        (hit, *_) = await tenant.find("bill-1001", mode="text")
        assert hit.document_id == plain


@pytest.mark.parametrize("dash", ["-", "\u2011", "\u2013"])
async def test_the_end_of_a_range_is_found_by_its_number(database: Database, dash: str) -> None:
    async with indexed_tenant(database) as tenant:
        right = await tenant.put(f"chapters 3{dash}5 of the report")
        await tenant.put("chapters of another report")
        assert await tenant.found("5", mode="text") == [right]


async def test_a_compound_with_a_hyphen_of_typography_is_the_compound(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("a water\u2011wheel")
        (hit,) = await tenant.find("water-wheel", mode="text")
        assert hit.coverage == pytest.approx(1)
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["water", "wheel"]


@pytest.mark.parametrize(
    ("config", "text", "right", "typos"),
    [
        ("russian", "отчёт о плотине", "плотина", ["плотына", "плотна", "плоттина", "полтина"]),  # noqa: RUF001  # the words of these languages
        ("russian", "турбина вращается", "турбина", ["турбена", "трубина"]),
        ("greek", "το φράγμα του ποταμού", "φράγμα", ["φράγμο", "φράμα", "φράγκμα", "φργάμα"]),
        ("greek", "η γέφυρα", "γέφυρα", ["γεφυρα", "γέφιρα"]),
        ("turkish", "barajın kapağı açıldı", "barajın", ["barajin", "baracın"]),  # noqa: RUF001  # the words of these languages
        ("turkish", "çalışma raporu", "çalışma", ["calışma", "çalişma", "çalıçma"]),  # noqa: RUF001  # the words of these languages
        ("hungarian", "a szűrő tisztítása", "szűrő", ["szürő", "szűrö"]),
        ("romanian", "instalație nouă", "instalație", ["instalatie"]),
        ("spanish", "la montaña", "montaña", ["montana", "montraña"]),
        ("portuguese", "a medição", "medição", ["mediçao", "medicão"]),
        ("simple", "zażółć", "zażółć", ["zażółc"]),
    ],
)
async def test_a_misspelt_word_is_corrected_with_the_letters_of_its_language(
    database: Database, config: str, text: str, right: str, typos: list[str]
) -> None:
    async with indexed_tenant(database) as tenant:
        project = await project_of(tenant, config)
        document = await tenant.put(text, project_id=project)
        await tenant.put("zzz", project_id=project)
        for asked in (right, *typos):
            assert await tenant.found(asked, mode="text") == [document], asked


async def test_the_variants_of_a_word_grow_with_its_length_and_no_faster(database: Database) -> None:
    count = "select count(*) from search.one_edit($1, $2)"
    configs = ["danish", "french", "greek", "hungarian", "romanian", "russian", "simple", "turkish"]
    async with database.connect("admin") as admin:
        for letter in "aжλ":
            for length in (5, 12, 24):
                assert await admin.fetchval(count, letter * length, configs) <= 110 * (2 * length + 1)
        assert await admin.fetchval(count, "abcde", ["english"]) <= 26 * 11 + 10
