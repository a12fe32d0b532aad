"""The tables of errors in docs/reference/errors.md: SQLSTATE, class, when and fields, from the classes."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from penstock.errors import REFUSALS, PenstockError, Refused
from tools.marked import cell, replaced

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "errors.md"
PUBLIC = ("penstock.errors", "penstock.sources", "penstock", "penstock.client", "penstock.testing")
"""Where a program imports errors from."""

SECTIONS = {
    "configuration": ("penstock.errors.configuration",),
    "migration": ("penstock.errors.migration",),
    "server": ("penstock.errors.server",),
    "documents": ("penstock.errors.documents", "penstock.pipeline.parse.errors"),
    "models": ("penstock.errors.embedding", "penstock.errors.reranking"),
    "sources": ("penstock.sources.errors", "penstock.sources.mapping.map_file"),
    "vault": ("penstock.vault.errors",),
    "aws": ("penstock.aws", "penstock.inlets.sqs_queue", "penstock.inlets.sqs_payloads"),
    "requests": ("penstock.net.errors", "penstock.processes.channels.channel"),
    "programs": ("penstock.client.problem", "penstock.testing.task_results"),
}
"""A table for each, with the errors that its modules define."""

OF_ALL = {"message", "remedy", "args"}


def page() -> str:
    tables = {name: _table(modules) for name, modules in SECTIONS.items()}
    if missing := sorted(error.__name__ for error in public() - listed()):
        raise SystemExit(f"{PAGE.name}: no section has the module of {', '.join(missing)}")
    return replaced(PAGE, {"refusals": _refusals(), **tables})


def public() -> set[type[PenstockError]]:
    """What a program can import, without the two roots, which the page explains by hand."""
    found = (getattr(import_module(module), name) for module in PUBLIC for name in _names(module))
    errors = {each for each in found if inspect.isclass(each) and issubclass(each, PenstockError)}
    return errors - {PenstockError, Refused}


def listed() -> set[type[PenstockError]]:
    modules = (module for modules in SECTIONS.values() for module in modules)
    return {*REFUSALS.values(), *(error for module in modules for error in defined(module))}


def defined(module: str) -> Iterator[type[PenstockError]]:
    """The errors that a module defines, in its order."""
    for each in vars(import_module(module)).values():
        if inspect.isclass(each) and issubclass(each, PenstockError) and each.__module__ == module:
            yield each


def fields(error: type[PenstockError]) -> list[str]:
    """What an error has in addition to `message` and `remedy`."""
    found: dict[str, None] = {}
    for holder in reversed(error.__mro__[: error.__mro__.index(PenstockError)]):
        if "__init__" in vars(holder):
            found |= dict.fromkeys(_assigned(holder))
        found |= {name: None for name in vars(holder) if name == "code"}
    return [name for name in found if name not in OF_ALL]


def _assigned(holder: type) -> Iterator[str]:
    """The attributes that its constructor sets."""
    source = textwrap.dedent(inspect.getsource(vars(holder)["__init__"]))
    for node in ast.walk(ast.parse(source)):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                yield target.attr


def _names(module: str) -> list[str]:
    names: list[str] = import_module(module).__all__
    return names


def _refusals() -> str:
    rows = [f"| `{state}` | `{each.__name__}` | {_when(each)} |" for state, each in sorted(REFUSALS.items())]
    return "\n".join(["| SQLSTATE | Python | when |", "|---|---|---|", *rows])


def _table(modules: tuple[str, ...]) -> str:
    rows = [_row(each) for module in modules for each in defined(module)]
    return "\n".join(["| Python | from | when | fields |", "|---|---|---|---|", *rows])


def _row(error: type[PenstockError]) -> str:
    named = ", ".join(f"`{name}`" for name in fields(error))
    return f"| `{error.__name__}` | {_home(error)} | {_when(error)} | {named} |"


def _home(error: type[PenstockError]) -> str:
    found = [module for module in PUBLIC if error.__name__ in _names(module)]
    return f"`{found[0]}`" if found else ""


def _when(error: type[PenstockError]) -> str:
    if "__doc__" not in vars(error) or not error.__doc__:
        raise SystemExit(f"{error.__module__}.{error.__name__} has no docstring that says when it is raised")
    return cell(error.__doc__)
