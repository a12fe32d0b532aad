"""Runs the few tests that failed among all others once more, each alone, and names those that pass then.

A test that fails again is broken. One that passes alone depends on the time, on the order or on its
neighbours: that is a bug, too, but not a reason to reject a change that has nothing to do with it. Many
failures are never put down to chance.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

MOST: Final = 3
UNSTEADY: Final = "UNSTEADY, fix its cause: failed among others, passed alone"
ROOT: Final = Path(__file__).parents[1]
FAILED: Final = Path(".pytest_cache", "v", "cache", "lastfailed")


def main(root: Path = ROOT) -> int:
    file = root / FAILED
    failed = sorted(json.loads(file.read_text())) if file.is_file() else []
    if not failed:
        print("No test failed, so there is none to run again: see the error above.")
        return 1
    if len(failed) > MOST:
        print(f"{len(failed)} tests failed. They are not run again: more than {MOST} are no coincidence.")
        return 1
    broken = [test for test in failed if _fails(root, test)]
    for test in failed:
        print(f"{'Failed again' if test in broken else UNSTEADY}: {test}")
    return 1 if broken else 0


def _fails(root: Path, test: str) -> bool:
    command = (sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", test)
    return subprocess.run(command, cwd=root, check=False).returncode != 0


if __name__ == "__main__":
    sys.exit(main())
