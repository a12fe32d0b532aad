"""The page about the rules for mail lists every rule as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from penstock.sources.mail.rules.hard import HARD_RULES
from penstock.sources.mail.rules.rule import Rule
from penstock.sources.mail.rules.soft import SOFT_RULES

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "mail-rules.md").read_text("utf-8")


def rows(name: str) -> list[list[str]]:
    found = re.search(rf"<!-- {name}:begin -->\n(.+)\n<!-- {name}:end -->", PAGE, re.DOTALL)
    assert found is not None
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in found[1].splitlines()[2:]]


def cells(rules: Iterable[Rule]) -> list[list[str]]:
    return [
        [
            f"`{rule.name}`",
            rule.about,
            *([] if rule.weight is None else [f"{rule.weight:g}"]),
            f"`{rule.skip_reason}`" if rule.skip_reason else "",
        ]
        for rule in rules
    ]


def test_the_page_lists_every_rule_with_its_weight_and_reason() -> None:
    assert rows("hard") == cells(HARD_RULES)
    assert rows("soft") == cells(SOFT_RULES)
