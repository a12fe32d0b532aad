"""The generated references are what the code says, and a change of the code that they lack is found."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from penstock import Penstock, Settings
from penstock.api.notification_counts import NotificationCounts
from penstock.api.request_counts import RequestCounts
from penstock.client import BlockingClient
from penstock.engine.blocking import BlockingDocuments
from penstock.engine.bound import TenantDocuments
from penstock.errors import AppNotFound, PenstockError, UnknownQueue
from penstock.observe import Metrics
from tools import class_members, error_reference, metric_reference, python_reference, reference
from tools.marked import replaced

PAGES = {path.name: page for path, page in reference.PAGES.items()}
ERRORS = sorted(error_reference.listed(), key=lambda error: error.__name__)
Check = Callable[[Path], int]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    """What `python -m tools.reference --check` returns for one page."""

    def checked(page: Path) -> int:
        monkeypatch.setattr(reference, "PAGES", {page: PAGES[page.name]})
        return reference.main(["--check"])

    return checked


@pytest.mark.parametrize("path", reference.PAGES, ids=lambda path: path.name)
def test_every_reference_is_what_the_code_says(path: Path, check: Check) -> None:
    """After a change of the code: make generate."""
    assert check(path) == 0


@pytest.mark.parametrize("error", [UnknownQueue, AppNotFound])
def test_a_changed_docstring_of_an_error_fails_the_check(
    error: type[Exception],
    check: Check,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(error, "__doc__", "Something else happened.")
    assert check(error_reference.PAGE) == 1
    assert "docs/reference/errors.md" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change", [{"name": "job_taken_total"}, {"labels": ("job_type",)}, {"meaning": "Tasks that were taken."}]
)
def test_a_changed_metric_fails_the_check(
    change: dict[str, object],
    check: Check,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, *others = metric_reference.METRICS
    changed = replace(first, **change)  # type: ignore[arg-type]  # the fields of the parameters above
    monkeypatch.setattr(metric_reference, "METRICS", (changed, *others))
    assert check(metric_reference.PAGE) == 1
    assert "docs/operate/monitoring.md" in capsys.readouterr().err


def test_a_changed_docstring_of_a_method_fails_the_check(
    check: Check, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Penstock.ingest, "__doc__", "Add files.")
    assert check(python_reference.PAGE) == 1
    assert "docs/reference/python-api.md" in capsys.readouterr().err


def test_a_changed_default_fails_the_check(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = Penstock.ingest.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "project", "other")
    assert check(python_reference.PAGE) == 1


def test_a_check_writes_nothing(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    before = error_reference.PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(UnknownQueue, "__doc__", "Something else happened.")
    check(error_reference.PAGE)
    assert error_reference.PAGE.read_text(encoding="utf-8") == before


def test_a_public_error_without_a_section_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {name: modules for name, modules in error_reference.SECTIONS.items() if name != "server"}
    monkeypatch.setattr(error_reference, "SECTIONS", others)
    with pytest.raises(SystemExit, match="DatabaseUnreachable"):
        error_reference.page()


def test_a_page_without_the_marks_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("By hand.\n<!-- generated:begin one -->\nold\n<!-- generated:end -->\nBy hand too.\n")
    assert replaced(page, {"one": "new"}) == (
        "By hand.\n<!-- generated:begin one -->\nnew\n<!-- generated:end -->\nBy hand too.\n"
    )
    with pytest.raises(SystemExit, match="two"):
        replaced(page, {"one": "new", "two": "new"})


@pytest.mark.parametrize("error", ERRORS)
def test_every_value_given_to_an_error_is_a_field(error: type[PenstockError]) -> None:
    given = set(inspect.signature(error).parameters) - {"message", "remedy"}
    assert given <= set(error_reference.fields(error))


def test_every_metric_is_defined() -> None:
    registry = CollectorRegistry()
    RequestCounts(registry)
    NotificationCounts(registry)
    families = [*Metrics().registry().collect(), *registry.collect()]
    served = {
        (f"{each.name}_total" if each.type == "counter" else each.name, each.type, each.documentation)
        for each in families
        if not each.name.startswith("process_")
    }
    assert served == {(each.name, each.kind, each.meaning) for each in metric_reference.METRICS}


def test_everything_public_says_what_it_does() -> None:
    silent = []
    named = [pair for module in python_reference.MODULES for pair in python_reference.public(module)]
    for name, thing in [*named, *((each.__name__, each) for each in python_reference.GIVEN)]:
        if inspect.isclass(thing) and thing is not Settings:  # its methods are those of pydantic
            methods = python_reference.members(thing)[1]
            silent += [f"{name}.{each.name}" for each in methods if not each.text]
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and not class_members.said(thing):
            silent.append(name)
    assert silent == []


def test_signatures_have_no_paths_of_modules() -> None:
    page = python_reference.PAGE.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert "Penstock(settings: Settings | None = None" in code
    assert re.findall(r"\b(?:penstock|typing|collections|datetime|uuid|pathlib)\.\w+", code) == []


@pytest.mark.parametrize("method", [TenantDocuments.list, BlockingDocuments.list])
def test_help_shows_the_parameters_of_a_bound_method(method: Callable[..., object]) -> None:
    assert [*inspect.signature(method).parameters][:3] == ["self", "project", "status"]


def test_help_shows_the_parameters_of_the_blocking_client() -> None:
    assert [*inspect.signature(BlockingClient.search).parameters] == ["self", "query", "options"]
