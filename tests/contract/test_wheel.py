"""The wheel has every file of the package: SQL, templates, pages and the demo's files are read from it."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
CONSOLE = "penstock/console/dist/"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def package_files() -> set[str]:
    """Files of the package in this checkout, as the wheel names them."""
    files = (path for path in (ROOT / "src/penstock").rglob("*") if path.is_file())
    return {path.relative_to(ROOT / "src").as_posix() for path in files if path.suffix != ".pyc"}


def test_the_package_has_data_beside_its_code() -> None:
    """Otherwise the tests below would compare nothing of interest."""
    kinds = {Path(name).suffix for name in package_files()}
    assert {".py", ".sql", ".txt", ".html", ".css", ".js", ".typed"} <= kinds


def test_the_wheel_takes_the_whole_package_and_leaves_nothing_out_by_gitignore() -> None:
    """The build follows .gitignore, so a file of the package must not match it."""
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/penstock"]}
    names = "\n".join(f"src/{name}" for name in sorted(package_files()) if not name.startswith(CONSOLE))
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, cwd=ROOT, input=names, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        pytest.skip(f"this is not a checkout: {done.stderr.strip()}")
    assert done.stdout == ""


def test_the_source_distribution_has_the_console_built_and_its_sources(tmp_path: Path) -> None:
    """So that a wheel made from it needs no Node."""
    sdist = pytest.importorskip("hatchling.builders.sdist", reason="make setup installs the build backend")
    (built,) = sdist.SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"console/package-lock.json", "tools/build_hook.py"} <= names
    assert not any("node_modules" in name for name in names)
    if not (ROOT / "src" / CONSOLE).is_dir():
        pytest.skip("there is no console: make console says why")
    assert f"src/{CONSOLE}index.html" in names


def test_the_built_wheel_has_every_file_and_its_commands(tmp_path: Path) -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="make setup installs the build backend")
    (built,) = wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(built) as archive:
        names = archive.namelist()
        points = next(name for name in names if name.endswith(".dist-info/entry_points.txt"))
        declared = archive.read(points).decode()
    assert {name for name in names if name.startswith("penstock/")} == package_files()
    assert "penstock = penstock.cli:main" in declared
    assert "penstock = penstock.testing.plugin" in declared
    if not (ROOT / "src" / CONSOLE).is_dir():
        pytest.skip("the wheel has no console: make console says why")
    assert CONSOLE + "index.html" in names
