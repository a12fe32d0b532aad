"""Writes docs/reference/python-api.md, every public name, and python-results.md, what calls return."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.engine import bound
from penstock.engine.process_access import ProcessAccess
from penstock.engine.workspace import Workspace
from penstock.errors import PenstockError
from penstock.queue.task_type import TaskType
from penstock.search.query import SearchQuery
from penstock.settings import Settings
from penstock.worker.worker import Worker
from tools import class_members, error_reference, reached_types, signatures
from tools.class_members import Attribute, Method
from tools.marked import cell

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python-api.md"
RESULTS_PAGE = PAGE.with_name("python-results.md")
INTRO = """# Python: every name

On this page you can look up each public class and function with its signature, its members and what they do.
It is written by `make generate` from the code; [Python](python.md) explains how they are used together, with
examples, and [what calls return](python-results.md) has the fields of results. Methods that start with
`async def` need `await`; in `with Penstock() as app:` and of a `BlockingClient` they do not.
`AsyncContextManager` is for `async with`, `ContextManager` for `with`. The errors of `penstock.errors` have
[a page of their own](errors.md).
"""
RESULTS_INTRO = """# Python: what calls return

On this page you can look up the fields of the data that [public calls](python-api.md) take and return. It is
written by `make generate` from the code. Programs get these objects and need not import their classes, whose
modules may change.
"""
WIDTH = 118
MODULES = {
    "penstock": "The app, its settings, runs, retry policies, outcomes and channels.",
    "penstock.client": "The client of the HTTP API, for other programs and machines.",
    "penstock.sources": "What a [provider of your own](../guides/own-sources.md) needs.",
    "penstock.testing": "For [tests of your own](../guides/testing.md).",
    "penstock.simulators.providers": "[Simulated providers](../guides/simulators.md), for tests.",
    "penstock.observe": "For [logs](../operate/monitoring.md#logs); its other names may change.",
}
ONLY = {"penstock.observe": ["configure"]}
GIVEN: tuple[type, ...] = (
    TaskType,
    Worker,
    Workspace,
    bound.TenantDocuments,
    bound.TenantSources,
    bound.TenantClients,
    bound.TenantWebhook,
    bound.TenantMessages,
    ProcessAccess,
)
"""What a program does not import, but gets from an app."""

RESULTS = {
    "penstock": "Of an app",
    "penstock.client": "Of the client",
    "penstock.sources": "Of sources",
    "penstock.testing": "Of tests",
}
OWN = {
    "Addresses": {"embedded", "folders", "sql_dir"},
    "BlockingClient": {"client", "runner"},
    "Context": {"closing", "complete_by", "counts_as"},
    "Exponential": {"policy"},
    "NoRetry": {"policy"},
    "Penstock": {"engine", "reserve", "services"},
    "ProviderFault": {"described", "hits", "id", "matches"},
    "Table": {"policy"},
    "TaskRun": {"complete_by", "transaction"},
    "TaskType": {"decode", "encode", "payload_schema", "wants_context"},
    "Worker": {"known_leases", "pool", "registration"},
}
"""Members without an underscore because other packages of Penstock use them; programs should not."""

TEXTS = {"SearchOptions": SearchQuery}
"""Classes of which another has the same attributes and says what they mean."""

SAME = {"BlockingClient": "Client"}
"""Classes whose methods are another's without `await`."""


def page() -> str:
    parts = [INTRO, _contents()]
    for module, about in MODULES.items():
        parts.append(f"## The module {module}\n\n{about}\n")
        parts += [_section(name, thing) for name, thing in public(module)]
        if module == "penstock":
            parts.append("## What an app gives\n\nNot imported, but got from an app or by `@app.task()`.\n")
            parts += [_section(each.__name__, each) for each in GIVEN]
    return "\n".join(parts).rstrip() + "\n"


def results_page() -> str:
    known = [thing for module in MODULES for _, thing in public(module)] + list(GIVEN)
    parts = [RESULTS_INTRO]
    for module, heading in RESULTS.items():
        of = [thing for _, thing in public(module)] + (list(GIVEN) if module == "penstock" else [])
        found = reached_types.reached(of, members, known)
        parts.append(f"## {heading}\n")
        parts += [
            "\n".join([f"### {each.__name__}", "", *_prose(each), *_table(members(each)[0]), *_values(each)])
            for each in sorted(found.classes, key=lambda each: each.__name__)
        ]
        if found.aliases:
            rows = [f"| `{name}` | `{cell(shown)}` |" for name, shown in sorted(found.aliases.items())]
            parts.append("\n".join(["| other types | |", "|---|---|", *rows, ""]))
    return "\n".join(parts).rstrip() + "\n"


def public(module: str) -> list[tuple[str, Any]]:
    """The public names of a module in the order of the alphabet, without its version."""
    listed = ONLY.get(module) or import_module(module).__all__
    named = sorted((name for name in listed if not name.startswith("__")), key=str.lower)
    return [(name, getattr(import_module(module), name)) for name in named]


def members(thing: type) -> tuple[list[Attribute], list[Method]]:
    """The public ones."""
    own = OWN.get(thing.__name__, set())
    texts = {each.name: each.text for each in class_members.attributes(TEXTS.get(thing.__name__, thing))}
    return (
        [
            replace(each, text=texts[each.name])
            for each in class_members.attributes(thing)
            if each.name not in own
        ],
        [each for each in class_members.methods(thing) if each.name not in own],
    )


def _contents() -> str:
    rows = [(f"`{module}`", [name for name, _ in public(module)]) for module in MODULES]
    rows.append(("from an app", [each.__name__ for each in GIVEN]))
    linked = [
        f"| {where} | {', '.join(f'[{name}](#{name.lower()})' for name in names)} |" for where, names in rows
    ]
    return "\n".join(["| module | names |", "|---|---|", *linked, ""])


def _section(name: str, thing: Any) -> str:
    if inspect.isclass(thing):
        return "\n".join(_class(name, thing))
    if inspect.isfunction(inspect.unwrap(thing)):
        return "\n".join([f"### {name}", "", *_fenced(signatures.shown(name, thing)), *_prose(thing)])
    return "\n".join([f"### {name}", "", *_fenced(f"{name} = {reached_types.alias(thing)}")])


def _class(name: str, thing: type) -> Iterator[str]:
    yield from [f"### {name}", ""]
    if thing is Settings:
        yield from [*_fenced("Settings(**values)"), *_prose(thing)]
        yield from ["Its fields are [the settings](../operate/settings.md), in lower case.", ""]
        return
    attributes, methods = members(thing)
    if _is_created(thing):
        yield from _fenced(signatures.constructor(thing))
        given = inspect.signature(thing).parameters
        attributes = [each for each in attributes if each.text or each.name not in given]
    yield from _prose(thing)
    if issubclass(thing, PenstockError):
        fields = ", ".join(f"`{field}`" for field in ("message", "remedy", *error_reference.fields(thing)))
        yield from [f"Fields: {fields}.", ""]
        return
    yield from _table(attributes)
    if name in SAME:
        other = SAME[name]
        shared = ", ".join(f"[`{each.name}`](#{other.lower()}{each.name})" for each in methods)
        told = f"It has these methods of [{other}](#{other.lower()}), without `await`: {shared}."
        yield from _paragraphs(told)
        return
    for each in methods:
        yield from [f"#### {name}.{each.name}", "", *_fenced(each.signature), *_paragraphs(each.text)]


def _is_created(thing: type) -> bool:
    """Whether programs make one: protocols they implement, and some they are only given."""
    is_protocol = bool(getattr(thing, "_is_protocol", False))
    return not is_protocol and thing not in GIVEN and thing.__name__ != "Context"


def _values(thing: type) -> list[str]:
    if not issubclass(thing, Enum):
        return []
    return [*_paragraphs(f"One of {', '.join(f'`{each.value}`' for each in thing)}.")]


def _table(attributes: list[Attribute]) -> list[str]:
    if not attributes:
        return []
    rows = [
        f"| `{each.name}` | {f'`{cell(each.type)}`' if each.type else ''} | {cell(each.text)} |"
        for each in attributes
    ]
    return ["| attribute | type | |", "|---|---|---|", *rows, ""]


def _fenced(code: str) -> list[str]:
    return ["```py", code, "```", ""]


def _prose(thing: Any) -> list[str]:
    return _paragraphs(class_members.said(thing))


def _paragraphs(text: str) -> list[str]:
    return [
        line
        for paragraph in text.splitlines()
        for line in (textwrap.fill(paragraph, WIDTH, break_on_hyphens=False, break_long_words=False), "")
    ]
