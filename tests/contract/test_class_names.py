"""One class name stands for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"

MIRRORED = "penstock/client/"
"""The rows of the HTTP client repeat what the API returns, so that the client needs nothing else."""

EXPLAINED = {
    "Attachment": "of a document, and of a mail in the simulated mailbox, which is made, not read",
    "Mailbox": "the protocol of a connected mailbox, and the simulated one on the provider's side",
}


def homes() -> dict[str, set[str]]:
    """Every public class, with the modules that define it; a name with an underscore is its module's own."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(path.relative_to(SRC).as_posix())
    return found


def test_no_two_classes_share_a_name() -> None:
    shared = {
        name: sorted(paths)
        for name, paths in homes().items()
        if name not in EXPLAINED and len([path for path in paths if not path.startswith(MIRRORED)]) > 1
    }
    assert shared == {}


def test_a_class_of_the_client_shares_a_name_only_with_what_the_api_returns() -> None:
    returned = (
        "penstock/accounts/",
        "penstock/api/",
        "penstock/documents/",
        "penstock/model/",
        "penstock/search/",
        "penstock/sources/decision_rows.py",
        "penstock/sources/sources.py",
    )
    others = {
        name: sorted(paths)
        for name, paths in homes().items()
        if any(path.startswith(MIRRORED) for path in paths)
        and not all(path.startswith((MIRRORED, *returned)) for path in paths)
    }
    assert others == {}
