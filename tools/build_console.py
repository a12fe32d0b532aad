"""Builds the console into the package when its sources changed, with Node 20 of the system or of a wheel.

Run by make and by the build of the wheel. Without Node, or without a network to fetch it and the packages of
package-lock.json, it says so and succeeds: Penstock works without its console, and / says how to build it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # run by its path, by make and by the build of the wheel

from tools.node_packages import CannotInstall, environment_for, install, node_and_npm  # noqa: E402

CONSOLE = ROOT / "console"
DIST = ROOT / "src/penstock/console/dist"
MOST_GZIP = 180_000
"""Bytes of all scripts and styles together, compressed: the console's budget."""

_NOT_BUILT_FROM = {"node_modules", "README.md", "openapi.json"}


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
    """Builds, and returns one line about it. The console before is served until the new one is complete."""
    node, npm = node_and_npm(may_install=may_install)
    environment = environment_for(node)
    install(npm, CONSOLE, environment, again="make console")
    sources = sources_hash()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".building-") as folder:
        fresh = Path(folder, "fresh")
        size = bundle(node, environment, fresh)
        if size > MOST_GZIP:
            raise SystemExit(f"The console has {size:,} bytes compressed; its budget is {MOST_GZIP:,}.")
        (fresh / "built.json").write_text(json.dumps({"sources": sources, "gzip": size}) + "\n")
        if out.exists():
            out.rename(Path(folder, "before"))
        fresh.rename(out)
    return f"Built the console: {size / 1000:.0f} kB compressed."


def main() -> int:
    """Builds if it has to; a machine that cannot is told why and goes on."""
    if not (CONSOLE / "package.json").is_file() or is_fresh():
        return 0
    try:
        print(build(), file=sys.stderr)
    except CannotInstall as error:
        state = "an older console" if DIST.is_dir() else "no console"
        print(f"Going on with {state}: {error}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
