"""The Dockerfile and the systemd units, as far as they run without a container engine and without systemd."""

from __future__ import annotations

import configparser
import fnmatch
import json
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import httpx2
import pytest

from tests.plugins.command_line import CommandLine
from tests.plugins.prepared_cluster import PutCluster

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
READY_SECONDS = 60.0


def unit(path: Path) -> configparser.SectionProxy:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    read.read(path)
    return read["Service"]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, in order, with continued lines joined."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1].strip()) for line in lines]


def of_kind(kind: str) -> list[str]:
    return [words for name, words in instructions() if name == kind]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_accepts_the_unit(path: Path, tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("no systemd-analyze here; as root: apt-get install systemd")
    program = unit(path)["ExecStart"].split()[0]
    copy = tmp_path / path.name.replace("@.", "@1.")
    copy.write_text(path.read_text().replace(program, sys.executable))
    done = subprocess.run([verify, "verify", str(copy)], capture_output=True, text=True, check=False)
    about_it = [line for line in done.stderr.splitlines() if path.name.partition("@")[0] in line]
    assert (done.returncode, about_it) == (0, []), done.stderr


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_what_a_unit_starts_runs_and_stops_within_its_time(path: Path, penstock: CommandLine) -> None:
    service = unit(path)
    _, *words = shlex.split(service["ExecStart"])
    options = ["--port", "0", "--json"] if words == ["api"] else ["--json"]
    with penstock.running(*words, *options) as child:
        assert child.stdout is not None
        if words == ["api"]:
            url = json.loads(child.stdout.readline())["url"]
            assert httpx2.get(f"{url}/healthz", timeout=30).status_code == 200
        else:
            deadline = monotonic() + READY_SECONDS
            while not any(row["workers"] for row in penstock("queue", "stats", "--json").json["queues"]):
                assert monotonic() < deadline, "the worker did not register"
        child.send_signal(signal.SIGTERM)
        assert child.wait(float(service["TimeoutStopSec"])) == 0


def test_the_image_copies_only_what_exists_and_is_not_ignored() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().split() if line]
    assert rules[0] == "*", "everything is ignored that is not named"
    kept = [rule[1:] for rule in rules if rule.startswith("!")]
    copied = [
        source for words in of_kind("COPY") if not words.startswith("--from") for source in words.split()[:-1]
    ]
    assert copied
    for source in copied:
        name = source.removeprefix("./")
        assert (ROOT / name).exists(), name
        assert any(fnmatch.fnmatch(name, rule) for rule in kept), f"{name} is ignored"


def test_what_the_image_starts_answers_its_health_check(tmp_path: Path, put_cluster: PutCluster) -> None:
    """Under the image's variables, on a port that is free here instead of the image's own."""
    variables = dict(pair.split("=", 1) for words in of_kind("ENV") for pair in shlex.split(words))
    assert variables.pop("PATH").startswith("/opt/penstock/bin:")
    assert variables["PENSTOCK_DATA_DIR"] == of_kind("VOLUME")[0], "what it writes is in the volume"
    start = json.loads(of_kind("ENTRYPOINT")[0]) + json.loads(of_kind("CMD")[0])
    assert start == ["penstock", "up"]
    check = json.loads(of_kind("HEALTHCHECK")[0].partition("CMD ")[2])
    assert f":{of_kind('EXPOSE')[0]}/" in check[-1], "it asks the port that the image exposes"
    image = CommandLine(tmp_path, variables | {"PENSTOCK_DATA_DIR": str(tmp_path / "data")})
    put_cluster(tmp_path / "data")
    with image.running(*start[1:], "--port", "0", "--json") as child:
        assert child.stdout is not None
        url = json.loads(child.stdout.readline())["url"]
        port = url.rpartition(":")[2]
        asked = check[-1].replace(f":{of_kind('EXPOSE')[0]}/", f":{port}/")
        done = subprocess.run(
            [sys.executable, *check[1:-1], asked], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        child.send_signal(getattr(signal, of_kind("STOPSIGNAL")[0]))
        assert child.wait(60) == 0
