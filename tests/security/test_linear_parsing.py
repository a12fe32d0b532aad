"""Nothing a stranger sends freezes a process: every parse on a loop takes time in proportion to its input."""

from __future__ import annotations

import ast
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

import penstock
from tests.security.parsers_on_the_loop import NOT_ON_A_LOOP, ON_THE_LOOP

SECONDS: Final = 10.0
"""Of the processor, for all hostile texts of one case together; a quadratic one needs minutes for each."""
PARSERS: Final = (
    *(
        "cgi",
        "configparser",
        "croniter",
        "csv",
        "email",
        "h11",
        "html.parser",
        "http.cookiejar",
        "http.cookies",
    ),
    *(
        "idna",
        "jmespath",
        "joserfc",
        "mailbox",
        "plistlib",
        "pypdfium2",
        "python_multipart",
        "selectolax",
        "shlex",
        "tarfile",
        "tomllib",
    ),
    *("xberg", "xml", "zipfile", "zlib"),
)
ROOT: Final = Path(penstock.__file__).parent


class TooSlow(Exception):
    pass


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Interrupt after so much of the processor's time, even inside a regular expression."""

    def late(_: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {most:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_hostile_input_is_read_in_linear_time(name: str) -> None:
    with processor_seconds(SECONDS):
        ON_THE_LOOP[name]()


def test_the_watch_interrupts_a_pattern_that_backtracks() -> None:
    began = time.process_time()
    with pytest.raises(TooSlow), processor_seconds(0.2):
        re.fullmatch(r"(?:a|a)*b", "a" * 60)
    assert time.process_time() - began < 5


def test_every_pattern_and_parser_is_listed_or_has_a_reason_not_to_be() -> None:
    found = {name for path in sorted(ROOT.rglob("*.py")) for name in _patterns_and_parsers(path)}
    assert found, "nothing was found at all"
    missing = {name for name in found if name not in ON_THE_LOOP and _reason(name) is None}
    assert not missing, (
        "add a hostile input for each to ON_THE_LOOP, or say in NOT_ON_A_LOOP why no loop runs it: "
        f"{sorted(missing)}"
    )
    ours = {name for name in ON_THE_LOOP if name.startswith("penstock.") and ("._" in name or ":" in name)}
    assert ours <= found, f"these are gone, remove their cases: {sorted(ours - found)}"
    unused = {known for known in NOT_ON_A_LOOP if not any(_covers(known, name) for name in found)}
    assert not unused, f"nothing is left of these: {sorted(unused)}"


def _reason(name: str) -> str | None:
    return next((reason for known, reason in NOT_ON_A_LOOP.items() if _covers(known, name)), None)


def _covers(known: str, name: str) -> bool:
    return name == known or name.startswith(known if known.endswith(".") else (f"{known}.", f"{known}:"))


def _patterns_and_parsers(path: Path) -> Iterator[str]:
    """`module.NAME` of a pattern, `module.function` where it has no name, `module:parser` of an import."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    module = ".".join(parts).removesuffix(".__init__")
    yield from _within(ast.parse(path.read_text()), module, module)


def _within(node: ast.AST, place: str, module: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        inner = place
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                inner = f"{place}.{child.name}"
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if (
                place == module
            ):
                inner = f"{module}.{name}"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=called)) if called != "escape":
                yield place
            case ast.Import(names=names):
                yield from (f"{module}:{each.name}" for each in names if _is_parser(each.name))
            case ast.ImportFrom(module=str(name), level=0) if _is_parser(name):
                yield f"{module}:{name}"
            case ast.ImportFrom(module="re"):
                yield f"{module}:re"
        yield from _within(child, inner, module)


def _is_parser(name: str) -> bool:
    return any(name == parser or name.startswith(f"{parser}.") for parser in PARSERS)
