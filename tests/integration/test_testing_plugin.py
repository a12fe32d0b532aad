"""The pytest plugin as users have it: a run of pytest of its own, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from penstock.db.embedded.server import EmbeddedServer
from penstock.testing.blocking import run_blocking
from penstock.testing.databases import connected
from penstock.testing.shared_server import SETTINGS

pytestmark = pytest.mark.timeout(180)

ROOT = Path(__file__).parents[2]
USES_NOTHING = """
import sys

def test_nothing_is_loaded():
    loaded = {name for name in sys.modules if name.partition(".")[0] in ("penstock", "asyncpg", "pydantic")}
    assert loaded == {"penstock", "penstock.lazy", "penstock.testing", "penstock.testing.plugin"}
"""
USES_THE_OPTION = """
def test_the_app_is_the_one_that_is_named(penstock_app):
    import shop
    assert penstock_app is shop.app

def test_a_database_has_settings(penstock_database):
    assert penstock_database.fetch("select 1 as one") == [{"one": 1}]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example, copied, with the entry points that an installation of pyproject.toml has."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples/testing", project, ignore=shutil.ignore_patterns("__pycache__"))
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = tmp_path / "installed" / "penstock-0.1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: penstock\nVersion: 0.1.0\n")
    lines = [f"{name} = {value}" for name, value in declared.items()]
    (installed / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines, ""]))
    return project


# Plugins of our own environment that cost a run of pytest three seconds.
WITHOUT = ["-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:randomly"]


def run_pytest(project: Path, *arguments: str, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(project.parent / "installed"), **variables}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *WITHOUT, "-W", "error", *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_passes_as_users_run_it(project: Path) -> None:
    assert "5 passed" in run_pytest(project, "-n", "2")


def test_a_run_that_uses_no_fixture_loads_nothing_of_penstock(project: Path) -> None:
    (project / "conftest.py").unlink()
    (project / "test_shop.py").write_text(USES_NOTHING)
    assert "1 passed" in run_pytest(project)


def test_tests_run_on_a_server_of_the_users_own(project: Path, tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "server", SETTINGS)
    server.start()
    try:
        url = server.url(database="postgres")
        (project / "test_shop.py").write_text(USES_THE_OPTION)
        (project / "pytest.ini").write_text("[pytest]\npenstock_app = shop:app\n")
        for _ in range(2):  # the second run uses the template of the first
            assert "2 passed" in run_pytest(project, PENSTOCK_TEST_DATABASE_URL=url)
        left = run_blocking(_names(url))
        assert len([name for name in left if name.startswith("penstock_template_")]) == 1
        assert [name for name in left if name.startswith("penstock_test_")] == []
    finally:
        server.destroy()


async def _names(url: str) -> list[str]:
    async with connected(url) as connection:
        return [row["datname"] for row in await connection.fetch("select datname from pg_database")]
