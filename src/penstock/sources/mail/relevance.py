"""The settings of a mailbox source that decide what is kept: rules, classifier, classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.errors import InvalidArgument
from penstock.model.document_class import CLASSES, CLASSIFIERS
from penstock.sources.mail.rules.check import check_rules

RELEVANCE: Final = ("rules", "classifier", "classes")


def relevance_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are given, checked; InvalidArgument names the field that is wrong."""
    checked: dict[str, Any] = {}
    if config.get("rules") is not None:
        check_rules(config)
        checked["rules"] = dict(config["rules"])
    if (classifier := config.get("classifier")) is not None:
        if classifier not in CLASSIFIERS:
            raise InvalidArgument(
                f"there is no classifier {classifier!r}", "classifier", f"There are {', '.join(CLASSIFIERS)}"
            )
        checked["classifier"] = classifier
    if (classes := config.get("classes")) is not None:
        checked["classes"] = _classes(classes)
    return checked


def _classes(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            "classes must be an object of keep and skip", "classes", 'Such as {"newsletter": "keep"}'
        )
    for name, treatment in given.items():
        if name not in CLASSES:
            raise InvalidArgument(
                f"there is no class {name!r}", f"classes.{name}", f"There are {', '.join(CLASSES)}"
            )
        if treatment not in ("keep", "skip"):
            raise InvalidArgument(
                f"classes.{name} must be keep or skip", f"classes.{name}", f"Usually it is {CLASSES[name]}"
            )
    return dict(given)
