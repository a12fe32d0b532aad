"""The console: its types, its logic, its size, and what its sources must not contain."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.api.auditing import AUDITED_PAGES, AUDITED_READS, UNAUDITED
from tools import build_console

ROOT = Path(__file__).parents[2]
CONSOLE = ROOT / "console"
SOURCES = sorted(path for path in (CONSOLE / "src").rglob("*") if path.suffix in (".ts", ".tsx"))
PACKAGES = json.loads((CONSOLE / "package.json").read_text())

needs_packages = pytest.mark.skipif(
    shutil.which("node") is None or not (CONSOLE / "node_modules").is_dir(),
    reason="the packages of the console are not installed: make console",
)


def npm(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["npm", "run", "--silent", *arguments]
    return subprocess.run(command, cwd=CONSOLE, capture_output=True, text=True, check=False, timeout=280)


def test_each_test_of_the_shared_site_has_a_tenant_of_its_own() -> None:
    made = [
        slug
        for path in (ROOT / "tests" / "web").glob("*.py")
        for slug in re.findall(r'another_tenant\("([^"]+)"', path.read_text())
    ]
    assert [slug for slug, times in Counter(made).items() if times > 1] == []


def test_the_console_shows_text_as_text_only() -> None:
    """React escapes what it renders; nothing may go around it."""
    raw = re.compile(
        r"dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|eval\("
    )
    assert [str(path) for path in SOURCES if raw.search(path.read_text())] == []


def test_no_file_of_the_console_is_longer_than_300_lines() -> None:
    long = {path.name: len(path.read_text().splitlines()) for path in SOURCES if path.name != "schema.d.ts"}
    assert {name: n for name, n in long.items() if n > 300} == {}


def test_the_packages_are_few_and_pinned_and_the_lock_names_no_registry() -> None:
    assert len(PACKAGES["dependencies"]) <= 12
    pins = [*PACKAGES["dependencies"].values(), *PACKAGES["devDependencies"].values()]
    assert [pin for pin in pins if not re.fullmatch(r"\d+\.\d+\.\d+", pin)] == []
    lock = json.loads((CONSOLE / "package-lock.json").read_text())["packages"]
    assert [name for name, package in lock.items() if "resolved" in package] == []
    assert [name for name, package in lock.items() if name and "integrity" not in package] == []


def test_the_audit_has_words_for_every_call_that_leaves_a_row() -> None:
    words = (CONSOLE / "src/pages/access/audit-words.ts").read_text()
    known = set(re.findall(r'^  "([A-Z]+ /[^"]*)":', words, re.MULTILINE))
    paths = json.loads((CONSOLE / "openapi.json").read_text())["paths"]
    calls = {
        f"{method.upper()} {path}"
        for path, operations in paths.items()
        for method, operation in operations.items()
        if path.startswith("/v1/") and leaves_a_row(method, operation)
    }
    assert known == calls | AUDITED_PAGES


def leaves_a_row(method: str, operation: dict[str, Any]) -> bool:
    operation_id = operation.get("operationId")
    return operation_id in AUDITED_READS or (method != "get" and operation_id not in UNAUDITED)


@needs_packages
@pytest.mark.timeout(600)  # Node takes its time beside other load
@pytest.mark.slow("the compiler and all tests of the console's logic")
def test_the_types_of_the_api_are_generated_from_its_description(tmp_path: Path) -> None:
    """make check compares the description with the code; this compares the types with the description."""
    command = [
        "npx",
        "openapi-typescript",
        "openapi.json",
        "--alphabetize",
        "--output",
        str(tmp_path / "schema.d.ts"),
    ]
    subprocess.run(command, cwd=CONSOLE, capture_output=True, check=True, timeout=60)
    assert (tmp_path / "schema.d.ts").read_text() == (CONSOLE / "src/api/schema.d.ts").read_text(), (
        "make console-types"
    )


@needs_packages
@pytest.mark.timeout(600)  # Node takes its time beside other load
@pytest.mark.slow("the compiler and all tests of the console's logic")
def test_the_types_of_the_console_hold_and_its_logic_passes() -> None:
    types = npm("check")
    assert types.returncode == 0, types.stdout
    logic = npm("test")
    assert logic.returncode == 0, logic.stdout + logic.stderr


@needs_packages
@pytest.mark.timeout(600)  # Node takes its time beside other load
def test_two_builds_of_the_console_are_the_same_bytes(tmp_path: Path) -> None:
    built = {}
    for name in ("first", "second"):
        script = (
            f"import pathlib, sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import build_console; "
            f"build_console.build(pathlib.Path({str(tmp_path / name)!r}), may_install=False)"
        )
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=280)
        folder = tmp_path / name
        built[name] = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
    assert built["first"] == built["second"]
    assert "index.html" in built["first"]


@pytest.mark.parametrize("size", [1_000, build_console.MOST_GZIP + 1])
def test_a_console_is_replaced_when_the_next_is_complete_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    out = tmp_path / "dist"
    out.mkdir()
    (out / "index.html").write_text("before")

    def bundle(_node: str, _environment: dict[str, str], folder: Path) -> int:
        assert (out / "index.html").read_text() == "before", "it is served while the next is made"
        folder.mkdir()
        (folder / "index.html").write_text("next")
        return size

    monkeypatch.setattr(build_console, "node_and_npm", lambda **_: ("node", "npm"))
    monkeypatch.setattr(build_console, "environment_for", lambda _: {})
    monkeypatch.setattr(build_console, "install", lambda *_, **__: None)
    monkeypatch.setattr(build_console, "bundle", bundle)
    if size > build_console.MOST_GZIP:
        with pytest.raises(SystemExit, match="budget"):
            build_console.build(out)
        assert (out / "index.html").read_text() == "before"
    else:
        assert "1 kB" in build_console.build(out)
        assert (out / "index.html").read_text() == "next"
    assert [path.name for path in tmp_path.iterdir()] == ["dist"]
