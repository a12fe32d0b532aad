"""The older PostgreSQL of `make test-postgres`: where it cannot be had, a run of CI says so visibly."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import older_postgres
from tools.older_postgres import SOURCE, main


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older_postgres, "folder", lambda: tmp_path / "kept")
    monkeypatch.setattr("sys.argv", ["older_postgres", "16"])
    monkeypatch.delenv(SOURCE, raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


@pytest.mark.parametrize("on_github", [True, False])
def test_a_version_that_is_not_tested_is_a_warning_of_the_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    on_github: bool,
) -> None:
    monkeypatch.setenv(SOURCE, str(tmp_path))
    if on_github:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main() == 3
    said = capsys.readouterr().err
    assert "the tests on PostgreSQL 16 are not run" in said
    assert "there is no vector.control" in said
    assert said.startswith("::warning title=PostgreSQL 16 was not tested::") == on_github


def test_where_apt_has_no_debian_it_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on Ubuntu, whose own source package is too old."""
    monkeypatch.setattr(older_postgres, "_programs", lambda *_: tmp_path)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    nothing = subprocess.CompletedProcess([], 0, stdout="", stderr="")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: nothing)
    assert main() == 3
    assert f"set {SOURCE}" in capsys.readouterr().err


def test_pgvector_is_built_from_a_copy_of_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "pgvector"
    (source / ".git").mkdir(parents=True)
    (source / "vector.control").write_text("default_version = '0.8.0'")
    (source / "Makefile").write_text("all install:\n\techo $@ $(PG_CONFIG) >>$(dir $(PG_CONFIG))built\n")

    def programs(version: str, fresh: Path) -> Path:
        (fresh / "pg" / "bin").mkdir(parents=True)
        return fresh / "pg"

    monkeypatch.setattr(older_postgres, "_programs", programs)
    monkeypatch.setenv(SOURCE, str(source))
    assert main() == 0
    kept = Path(capsys.readouterr().out.strip())
    made = [line.split()[0] for line in (kept / "bin" / "built").read_text().splitlines()]
    assert made == ["all", "install"]
    assert sorted(each.name for each in source.iterdir()) == [".git", "Makefile", "vector.control"]
    assert main() == 0
    assert len((kept / "bin" / "built").read_text().splitlines()) == 2, "it is kept for the next time"
