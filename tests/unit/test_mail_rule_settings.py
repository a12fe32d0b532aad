"""The rules' settings of a source are checked, and an error names the field."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import InvalidArgument
from penstock.sources.mail.rules.check import check_rules
from penstock.sources.mail.rules.settings import DEFAULT_SETTINGS, is_listed


def test_settings_that_are_right_are_taken() -> None:
    found = check_rules(
        {
            "folders": ["inbox"],
            "rules": {
                "off": ["shown_image"],
                "weights": {"bulk_headers": -1, "amount": 0.5},
                "allow_senders": [" Billing@Example.com "],
                "block_senders": ["@shop.example", "news.example"],
            },
        }
    )
    assert found.off == {"shown_image"}
    assert found.weights == {"bulk_headers": -1.0, "amount": 0.5}
    assert found.allow_senders == {"billing@example.com"}
    assert found.block_senders == {"shop.example", "news.example"}


@pytest.mark.parametrize("config", [{}, {"rules": None}, {"rules": {}}])
def test_without_settings_the_defaults_apply(config: dict[str, Any]) -> None:
    assert check_rules(config) == DEFAULT_SETTINGS


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ([], "rules"),
        ({"of": []}, "rules.of"),
        ({1: []}, "rules.1"),
        ({"off": "spam"}, "rules.off"),
        ({"off": [1]}, "rules.off"),
        ({"off": ["spammy"]}, "rules.off"),
        ({"weights": []}, "rules.weights"),
        ({"weights": {"spammy": 1}}, "rules.weights.spammy"),
        ({"weights": {"spam": -1}}, "rules.weights.spam"),
        ({"weights": {"amount": -0.1}}, "rules.weights.amount"),
        ({"weights": {"amount": 11}}, "rules.weights.amount"),
        ({"weights": {"amount": "1"}}, "rules.weights.amount"),
        ({"weights": {"amount": True}}, "rules.weights.amount"),
        ({"weights": {"amount": float("nan")}}, "rules.weights.amount"),
        ({"weights": {"bulk_headers": 0.1}}, "rules.weights.bulk_headers"),
        ({"allow_senders": "a@example.com"}, "rules.allow_senders"),
        ({"allow_senders": ["com"]}, "rules.allow_senders"),
        ({"allow_senders": ["a b@example.com"]}, "rules.allow_senders"),
        ({"allow_senders": ["a@b@example.com"]}, "rules.allow_senders"),
        ({"allow_senders": ["example..com"]}, "rules.allow_senders"),
        ({"allow_senders": ["a" * 400 + ".com"]}, "rules.allow_senders"),
        ({"block_senders": [""]}, "rules.block_senders"),
        ({"block_senders": [f"{number}.com" for number in range(1_001)]}, "rules.block_senders"),
        ({"allow_senders": ["a.com"], "block_senders": ["A.com"]}, "rules.block_senders"),
    ],
)
def test_settings_that_are_wrong_name_their_field(rules: Any, field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        check_rules({"rules": rules})
    assert refused.value.field == field
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("sender", "is_in"),
    [
        ("ann@example.com", True),
        ("ann@mail.example.com", True),
        ("bob@example.org", True),
        ("ann@example.org", False),
        ("ann@notexample.com", False),
        ("ann@example.com.evil.net", False),
        ("example.com@evil.net", False),
        ("", False),
    ],
)
def test_a_domain_includes_the_domains_below_it_and_nothing_else(sender: str, is_in: bool) -> None:
    assert is_listed(sender, frozenset({"example.com", "bob@example.org"})) is is_in
