"""The documentation and the examples use public names only, and the Python pages have every public module."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from penstock.engine import blocking, bound
from penstock.engine.process_access import ProcessAccess
from tools import python_reference

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")

PUBLIC = (
    "penstock",
    "penstock.client",
    "penstock.errors",
    "penstock.observe",
    "penstock.simulators.providers",
    "penstock.sources",
    "penstock.testing",
)
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
PROGRAMS = sorted((ROOT / "examples").rglob("*.py"))
PYTHON = re.compile(r"^([ ]*)```python\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LISTED = {
    "documents": bound.TenantDocuments,
    "sources": bound.TenantSources,
    "webhook": bound.TenantWebhook,
    "clients": bound.TenantClients,
    "messages": bound.TenantMessages,
    "processes": ProcessAccess,
}
WITHOUT_BLOCKING = {"documents": {"content"}}
"""It gives a stream; `app.run` runs what reads it."""


def public(holder: type) -> set[str]:
    return {name for name in vars(holder) if not name.startswith("_")}


def imported(program: str) -> Iterator[tuple[str, str]]:
    """Each module of Penstock that a program imports from, with the name."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names if each.name.split(".")[0] == "penstock")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "penstock":
            yield from ((node.module or "", each.name) for each in node.names)


def private(program: str) -> list[str]:
    return [
        f"{module}.{name}"
        for module, name in imported(program)
        if module not in PUBLIC or (name and name not in import_module(module).__all__)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_imports_a_private_name(page: Path) -> None:
    programs = [textwrap.dedent(found[2]) for found in PYTHON.finditer(page.read_text(encoding="utf-8"))]
    assert [name for program in programs for name in private(program)] == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_example_imports_a_private_name(program: Path) -> None:
    assert private(program.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", PUBLIC)
def test_the_python_reference_names_every_public_module(module: str) -> None:
    assert f"| `{module}` |" in REFERENCE


def test_the_names_of_every_public_module_are_generated() -> None:
    assert {*python_reference.MODULES, "penstock.errors"} == set(PUBLIC)


@pytest.mark.parametrize("attribute", LISTED)
def test_the_python_reference_lists_the_methods_of_the_apps_attributes(attribute: str) -> None:
    row = re.search(rf"^\| `{attribute}` \| (.*) \|$", REFERENCE, re.MULTILINE)
    assert row is not None
    assert set(re.findall(r"`(\w+)`", row[1])) >= public(LISTED[attribute])


@pytest.mark.parametrize("attribute", LISTED)
def test_every_method_has_its_blocking_form(attribute: str) -> None:
    blocked = public(getattr(blocking, f"Blocking{attribute.title()}"))
    assert public(LISTED[attribute]) - blocked == WITHOUT_BLOCKING.get(attribute, set())
