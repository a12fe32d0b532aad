"""Checks the rules' settings of a source before they are stored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from penstock.errors import InvalidArgument
from penstock.sources.mail.rules.judge import RULES
from penstock.sources.mail.rules.settings import DEFAULT_SETTINGS, RuleSettings

FIELDS: Final = ("off", "weights", "allow_senders", "block_senders")
MOST_SENDERS: Final = 1_000
LONGEST_SENDER: Final = 320
HEAVIEST: Final = 10.0


def check_rules(config: Mapping[str, Any]) -> RuleSettings:
    """The settings in `config["rules"]`; InvalidArgument names the field that is wrong."""
    given = config.get("rules")
    if given is None:
        return DEFAULT_SETTINGS
    if not isinstance(given, Mapping):
        raise InvalidArgument("rules must be an object", "rules", f"Its fields are {', '.join(FIELDS)}")
    if unknown := sorted(str(name) for name in given if name not in FIELDS):
        raise InvalidArgument(
            f"rules has no field {unknown[0]!r}", f"rules.{unknown[0]}", f"There are {', '.join(FIELDS)}"
        )
    allowed = _senders(given, "allow_senders")
    blocked = _senders(given, "block_senders")
    if both := sorted(allowed & blocked):
        raise InvalidArgument(
            f"{both[0]!r} is in allow_senders and in block_senders",
            "rules.block_senders",
            "Remove it from one of them",
        )
    return RuleSettings(
        off=frozenset(_off(given)),
        weights=_weights(given),
        allow_senders=allowed,
        block_senders=blocked,
    )


def _off(given: Mapping[str, Any]) -> list[str]:
    names = given.get("off", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidArgument("rules.off must be a list of names", "rules.off", 'Such as ["shown_image"]')
    for name in names:
        _known(name, "rules.off")
    return names


def _weights(given: Mapping[str, Any]) -> dict[str, float]:
    weights = given.get("weights", {})
    if not isinstance(weights, Mapping):
        raise InvalidArgument(
            "rules.weights must be an object of numbers", "rules.weights", 'Such as {"amount": 0.5}'
        )
    for name, weight in weights.items():
        place = f"rules.weights.{name}"
        _known(name, place)
        usual = RULES[name].weight
        if usual is None:
            raise InvalidArgument(
                f"{name} drops by itself and has no weight", place, 'Switch it off: {"off": ["' + name + '"]}'
            )
        lowest, highest = (0.0, HEAVIEST) if usual > 0 else (-HEAVIEST, 0.0)
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool) and math.isfinite(weight)
        if not is_number or not lowest <= weight <= highest:
            raise InvalidArgument(
                f"{place} must be a number from {lowest:g} to {highest:g}", place, f"Usually it is {usual:g}"
            )
    return {name: float(weight) for name, weight in weights.items()}


def _known(name: object, place: str) -> None:
    if name not in RULES:
        raise InvalidArgument(f"there is no rule {name!r}", place, f"There are {', '.join(RULES)}")


def _senders(given: Mapping[str, Any], name: str) -> frozenset[str]:
    place = f"rules.{name}"
    senders = given.get(name, [])
    if not isinstance(senders, list) or not all(isinstance(sender, str) for sender in senders):
        raise InvalidArgument(
            f"{place} must be a list of addresses and domains",
            place,
            'Such as ["billing@example.com", "example.org"]',
        )
    if len(senders) > MOST_SENDERS:
        raise InvalidArgument(
            f"{place} has {len(senders):,} entries", place, f"At most {MOST_SENDERS:,} are possible"
        )
    return frozenset(_sender(sender, place) for sender in senders)


def _sender(given: str, place: str) -> str:
    sender = given.strip().lower().removeprefix("@")
    local, at, domain = sender.rpartition("@")
    labels = domain.split(".")
    is_sound = len(labels) > 1 and all(labels) and not any(each.isspace() for each in sender)
    if not is_sound or len(sender) > LONGEST_SENDER or (at and not local) or "@" in local:
        raise InvalidArgument(
            f"{given[:LONGEST_SENDER]!r} is neither an address nor a domain",
            place,
            "Such as billing@example.com, or example.org for everybody there",
        )
    return sender
