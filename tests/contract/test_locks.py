"""The lock files have every dependency with its hashes and no address; the files of an image exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "requirements.lock": ("dev",),
    "requirements-bench.lock": ("dev", "bench"),
    "requirements-ray.lock": ("dev", "ray"),
    "requirements-runtime.lock": ("aws", "build", "ocr", "qdrant", "sqs"),
}
PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)(?:\[[^]]*\])?==(?P<version>\S+)", re.MULTILINE)


def asked_for(extras: tuple[str, ...]) -> list[Requirement]:
    """What pyproject.toml asks for, extras that name other extras included."""
    found: list[Requirement] = [Requirement(line) for line in PROJECT["dependencies"]]
    waiting = list(extras)
    for extra in waiting:
        for line in EXTRAS[extra]:
            requirement = Requirement(line)
            if requirement.name == "penstock":
                waiting.extend(requirement.extras - set(waiting))
            else:
                found.append(requirement)
    return found


@pytest.mark.parametrize("name", list(LOCKS))
def test_a_lock_file_meets_what_the_project_asks_for(name: str) -> None:
    text = ROOT.joinpath(name).read_text()
    pins = [(canonicalize_name(found["name"]), Version(found["version"])) for found in PIN.finditer(text)]
    for requirement in asked_for(LOCKS[name]):
        versions = [version for pinned, version in pins if pinned == canonicalize_name(requirement.name)]
        assert versions, f"{requirement} is not in {name}: make lock"
        assert all(version in requirement.specifier for version in versions), f"{requirement}: make lock"


@pytest.mark.parametrize("name", list(LOCKS))
def test_a_lock_file_has_hashes_for_every_package_and_no_address(name: str) -> None:
    text = ROOT.joinpath(name).read_text()
    assert "://" not in text
    assert "--index" not in text
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > 30
    assert [package.split()[0] for package in packages if "--hash=sha256:" not in package] == []


def test_the_lock_files_agree() -> None:
    held = set(PIN.findall(ROOT.joinpath("requirements.lock").read_text()))
    assert set(PIN.findall(ROOT.joinpath("requirements-runtime.lock").read_text())) <= held
    assert held <= set(PIN.findall(ROOT.joinpath("requirements-bench.lock").read_text()))


def test_every_file_the_image_copies_is_there_and_reaches_the_build() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", ROOT.joinpath("Dockerfile").read_text(), re.MULTILINE)
    names = [name.removeprefix("./") for line in copied for name in line.split()]
    assert {"pyproject.toml", "requirements-runtime.lock", "src"} <= set(names)
    let_in = {line[1:] for line in ROOT.joinpath(".dockerignore").read_text().splitlines() if line[0] == "!"}
    for name in names:
        assert ROOT.joinpath(name).exists(), name
        assert name in let_in, name


def test_the_units_start_commands_that_exist() -> None:
    units = sorted(ROOT.joinpath("deploy/systemd").glob("*.service"))
    started = [
        re.search(r"^ExecStart=/opt/penstock/bin/penstock (\w+)$", unit.read_text(), re.M) for unit in units
    ]
    assert [found and found[1] for found in started] == ["api", "worker"]
