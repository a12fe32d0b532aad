"""Which headings of a passage its place does not name, and how `penstock search` shows them."""

from __future__ import annotations

from uuid import uuid4

from penstock.cli.documents.search import described
from penstock.search import SearchHit
from penstock.search.answer import HitHeading, Snippet


def hit(above: tuple[str, ...], *inside: tuple[str, ...]) -> SearchHit:
    required = (name for name, field in SearchHit.model_fields.items() if field.is_required())
    given = {
        "kind": "chunk",
        "score": 1.0,
        "document_id": uuid4(),
        "project_id": uuid4(),
        "title": "Manual",
        "heading_path": above,
        "headings": tuple(HitHeading(start=place, path=path) for place, path in enumerate(inside)),
        "text": "",
        "snippet": Snippet(text=""),
    }
    return SearchHit.model_validate({**dict.fromkeys(required), **given})


def test_headings_that_the_place_of_a_passage_names_are_not_repeated() -> None:
    found = hit(("Works", "Sluice"), ("Works",), ("Works", "Sluice"), ("Works", "Gate"), ("Works", "Gate"))
    assert found.further_headings == (("Works", "Gate"),)
    assert hit(("Works",)).further_headings == ()


def test_a_result_names_the_headings_inside_the_passage() -> None:
    lines = described(1, hit(("Works",), ("Works",), ("Works", "Sluice"), ("Works", "Gate"))).splitlines()
    assert lines[:2] == ["1. Manual  (Works)", "   also: Sluice, Gate"]
    assert "also:" not in described(1, hit(("Works",), ("Works",)))


def test_of_many_headings_a_result_names_the_first_three() -> None:
    many = described(1, hit((), *((f"Part {place}",) for place in range(1, 8))))
    assert "   also: Part 1, Part 2, Part 3, and 4 more\n" in many
