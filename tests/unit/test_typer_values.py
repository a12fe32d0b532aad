"""Arguments that are read without pydantic come out as Typer itself reads them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer import core

from penstock.cli import typer_values

GET = core._TyperParameter.get_runtime_param


class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"


def read(words: list[str], *, ours: bool) -> object:
    """What a command gets, or how it is refused."""
    got: dict[str, Any] = {}
    app = typer.Typer(rich_markup_mode=None)

    @app.command()
    def command(
        name: Annotated[str | None, typer.Argument()] = None,
        text: str = "x",
        limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
        count: int | None = None,
        ratio: Annotated[float, typer.Option(max=9)] = 0.5,
        mode: Mode = Mode.FAST,
        other: Annotated[Mode | None, typer.Option(case_sensitive=False)] = None,
        word: Literal["a", "b"] = "a",
        tag: Annotated[list[str] | None, typer.Option()] = None,
        number: Annotated[list[int] | None, typer.Option()] = None,
        path: Path | None = None,
        key: UUID | None = None,
        twice: Annotated[str, typer.Option(parser=lambda value: value * 2)] = "y",
        yes: bool = False,
    ) -> None:
        got.update(locals())
        del got["got"]

    core._TyperParameter.get_runtime_param = GET  # type: ignore[method-assign]
    try:
        if ours:
            typer_values.install()
            assert core._TyperParameter.get_runtime_param is not GET
        app(words, standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - the two have to fail alike
        return type(error), str(error), getattr(error, "exit_code", None)
    finally:
        core._TyperParameter.get_runtime_param = GET  # type: ignore[method-assign]
    return {name: (type(value), value) for name, value in got.items()}


OPTIONS = [
    "text",
    "limit",
    "count",
    "ratio",
    "mode",
    "other",
    "word",
    "tag",
    "number",
    "path",
    "key",
    "twice",
]
NUMBERS = ["3", "0", "-1", "501", "007", " 3", "+3", "3.0", "1_0", "٣", "1e3", "nan", "9" * 30]
WORDS = ["", "fast", "FAST", "slow", "Mode.FAST", "a", "b", "A", "a/b", "true", str(UUID(int=7))]
values = st.sampled_from([*NUMBERS, *WORDS])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # beside other load
@given(st.lists(st.tuples(st.sampled_from(OPTIONS), values), max_size=4), st.none() | values)
def test_every_value_is_read_or_refused_as_typer_does_it(
    given_options: list[tuple[str, str]], name: str | None
) -> None:
    words = [f"--{option}={value}" for option, value in given_options]
    words += [] if name is None else ["--", name]
    assert read(words, ours=True) == read(words, ours=False)


@pytest.mark.parametrize(
    "words", [["--yes"], ["--tag", "a", "--tag", "b"], ["--twice", "z"], ["--number", "1", "--number", "2"]]
)
def test_flags_and_lists_are_read_as_typer_does_it(words: list[str]) -> None:
    assert read(words, ours=True) == read(words, ours=False)


def test_an_unknown_version_of_typer_is_not_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typer_values, "_PARAMETER", None)
    typer_values.install()
    assert core._TyperParameter.get_runtime_param is GET
