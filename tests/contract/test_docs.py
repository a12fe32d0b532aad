"""Compares what is written by hand with the code: links, promises, settings, errors of SQL, log events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

import penstock.sql
from penstock.settings import OTHER_NAMES, PREFIX, Settings

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "penstock"
SQL = Path(penstock.sql.__file__).parent
WRITTEN_BY_A_RUN = {"bench/results/latest.md"}
"""Links may lead there before `make bench` was ever run."""

PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"],
    key=lambda page: str(page),
)
FENCED = re.compile(r"^([ ]*)```.*?^\1```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The ids GitHub gives to the headings of a page."""
    found = set()
    for heading in HEADING.findall(prose(page)):
        shown = LINK.sub(lambda link: link[0].split("]")[0].lstrip("![").lstrip("["), heading)
        kept = re.sub(r"[^\w\- ]", "", shown.replace("`", "").lower())
        found.add(kept.replace(" ", "-"))
    return found


def broken_links(page: Path) -> Iterator[str]:
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if str(file.relative_to(ROOT)) in WRITTEN_BY_A_RUN:
            continue
        if not file.exists():
            yield f"{target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_resolves(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_every_page_of_the_documentation_is_reached_from_the_readme() -> None:
    reached = {ROOT / "README.md"}
    new = set(reached)
    while new:
        targets = {
            (page.parent / unquote(target).partition("#")[0]).resolve()
            for page in new
            for target in LINK.findall(prose(page))
            if not re.match(r"[a-z]+:|#", target)
        }
        new = {target for target in targets if target.suffix == ".md" and target.exists()} - reached
        reached |= new
    assert {page for page in PAGES if page not in reached} == set()


def test_every_promise_names_a_test_that_exists() -> None:
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", text_of("docs/promises.md"))
    assert named
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).exists()
        or not re.search(rf"^(?:async )?def {name}\(", text_of(file), re.MULTILINE)
    ]
    assert missing == []


def test_every_promise_is_held_by_a_test() -> None:
    proven = text_of("docs/promises.md").split("## Not yet proven")[0]
    rows = [line for line in proven.splitlines() if line.startswith("| ") and "promise | held by" not in line]
    assert [row for row in rows if "::test_" not in row] == []


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / ".env.example"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_no_page_names_a_setting_that_does_not_exist(page: Path) -> None:
    known = {PREFIX + name.upper() for name in (*Settings.model_fields, *OTHER_NAMES)}
    named = set(re.findall(rf"\b{PREFIX}[A-Z0-9_]*[A-Z0-9]", page.read_text(encoding="utf-8")))
    assert named - known == set()


def sections() -> dict[str, str]:
    """What the SQL reference says of each function."""
    parts = re.split(r"^### queues\.(\w+)$", text_of("docs/reference/sql.md"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_sql_reference_names_the_errors_a_function_raises() -> None:
    silent = []
    for name, section in sections().items():
        file = (SQL / "queues" / "functions" / f"{name}.sql").read_text()
        raised = set(re.findall(r"errcode = '(PS\d{3})'", file))
        silent += [f"{name}: {state}" for state in sorted(raised) if state not in section]
    assert silent == []


def test_every_function_for_documents_says_which_errors_it_raises() -> None:
    silent = []
    for schema in ("accounts", "api", "comms", "files", "ingest", "search", "vault", "all_tenants"):
        for file in sorted((SQL / schema / "functions").glob("*.sql")):
            text = file.read_text(encoding="utf-8")
            head = re.match(r"(?:--[^\n]*\n)+", text)
            assert head is not None, file
            raised = set(re.findall(r"errcode = '(PS\d{3})'", text))
            silent += [f"{schema}.{file.stem}: {state}" for state in sorted(raised) if state not in head[0]]
    assert silent == []


def test_every_log_event_is_explained() -> None:
    page = text_of("docs/operate/monitoring.md")
    call = re.compile(r"\b_?log\.(?:debug|info|warning|error|throttled)\(\s*\"(\w+)\"")
    events = {
        event for file in SOURCE.rglob("*.py") for event in call.findall(file.read_text(encoding="utf-8"))
    }
    assert events
    assert {event for event in events if f"`{event}`" not in page} == set()


def test_the_readme_shows_the_examples_as_they_are() -> None:
    shown = re.findall(
        r"<!-- example:begin (\S+) -->\n```python\n(.*?)```\n<!-- example:end -->",
        text_of("README.md"),
        re.DOTALL,
    )
    assert [name for name, _ in shown] == ["examples/documents.py", "examples/ten_lines.py"]
    assert [name for name, text in shown if text != text_of(name)] == []


def test_the_readme_keeps_its_place_for_the_figures() -> None:
    assert re.search(r"<!-- bench:begin -->\n.+\n<!-- bench:end -->", text_of("README.md"), re.DOTALL)
