"""No stage loses a document of any set of labelled mails, and stage 1 drops most of the noise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import report
from bench.mail.__main__ import figures, second_figures
from bench.mail.local_stage import local_stage
from bench.mail.page import AUTHORS, FIRST_AUTHOR, overall, required_of_second, tables
from bench.mail.second_stage import Asked
from bench.mail.sorting import sort_mails
from bench.mail.template import PARTS, Part
from penstock.pipeline.classify.local import WORDLLAMA
from penstock.settings import Settings


@pytest.mark.parametrize("part", PARTS)
async def test_stage_1_keeps_every_document(part: Part) -> None:
    result = await sort_mails(part)
    lost = [
        (each.template, each.language, each.item.label, each.verdict)
        for each in result.of(True)
        if each.verdict.decision == "drop"
    ]
    assert not lost
    assert result.kept_documents() == 1
    assert result.right_reasons() >= 0.9


async def test_stage_1_drops_most_of_the_noise() -> None:
    results = {part: await sort_mails(part) for part in AUTHORS}
    for part in FIRST_AUTHOR:
        assert results[part].dropped_noise() >= 0.6, part
    assert overall(list(results.values())).passed


@pytest.mark.parametrize("part", PARTS)
async def test_stage_1_is_never_sure_of_noise(part: Part) -> None:
    """`keep` goes past the second stage."""
    noise = (await sort_mails(part)).of(False)
    assert not [(each.template, each.verdict) for each in noise if each.verdict.decision == "keep"]


@pytest.mark.parametrize("part", PARTS)
async def test_the_recorded_results_are_those_of_these_rules(part: Part) -> None:
    """If this fails, run `python -m bench mail` and commit its results."""
    recorded = json.loads((report.RESULTS / "mail.json").read_text())["parts"][part]
    found = figures(await sort_mails(part))
    for name in ("mails", "documents", "noise", "kept documents", "dropped noise", "right reasons"):
        assert recorded[name] == found[name], name


@pytest.mark.parametrize("part", PARTS)
async def test_the_local_classifier_skips_no_document(part: Part, tmp_path: Path) -> None:
    """With the model that is always there."""
    async with local_stage(Settings(data_dir=tmp_path), WORDLLAMA) as second:
        result = await sort_mails(part, second)
    assert [(each.template, each.language, each.found) for each in result.of(True) if each.is_skipped] == []
    assert required_of_second(second.name, result).passed
    assert part != "tuned" or result.skipped_noise() > 0
    recorded = json.loads((report.RESULTS / "mail.json").read_text())["parts"][part]["stage 2"]
    assert recorded[second.name] == second_figures(result)


class ByFileName:
    """Calls everything with a file name an invoice, and skips the rest."""

    name = "by file name"

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    async def classify(self, asked: Asked) -> str:
        self.asked.append(asked)
        return "invoice" if asked.filename else "other"

    def keeps(self, found: str) -> bool:
        return found == "invoice"


async def test_the_second_stage_is_asked_about_what_the_rules_are_not_sure_of() -> None:
    second = ByFileName()
    result = await sort_mails("tuned", second)
    asked = [each for each in result.items if each.verdict.decision == "ask"]
    assert len(second.asked) == len(asked)
    assert all(each.found == ("other" if each.place == "text" else "invoice") for each in asked)
    assert {each.is_skipped for each in asked} == {True, False}
    assert all(each.found is None for each in result.items if each.verdict.decision != "ask")
    page = "\n".join(tables(result, second.name))
    assert "| stage 2 (by file name) | kept | skipped | invoice | other |" in page
