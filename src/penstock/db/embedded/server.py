"""The embedded Postgres: one server per data directory, shared by processes and outliving them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import quote

from penstock.db.embedded.cluster import SUPERUSER, Cluster
from penstock.db.embedded.passwords import FILE_NAME, new_passwords, scram_verifier, write_passwords
from penstock.db.embedded.server_files import prepare_data_dir
from penstock.db.embedded.server_user import server_user
from penstock.db.flock import FileLock, locked
from penstock.db.login_names import OPERATOR, RUNTIME
from penstock.errors import ServerStartFailed

DATABASE = "penstock"

DEFAULTS: Mapping[str, str] = {
    "listen_addresses": "",
    "port": "5432",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "off",
    "autovacuum": "on",
    "autovacuum_naptime": "10s",
    "jit": "off",
}


class EmbeddedServer:
    """The server of one data directory, reachable only by a Unix socket; its methods block for seconds."""

    def __init__(self, data_dir: Path, settings: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir.absolute()
        self.settings = {**DEFAULTS, **(settings or {})}
        self._holder = FileLock(self.data_dir / "holders")
        self._located: Cluster | None = None

    def start(self) -> None:
        """Initialise the cluster if there is none, start or attach to the server, and hold it."""
        self._prepare_folder()
        with self._lock():
            cluster = self._located = Cluster.locate(self.data_dir)
            if not cluster.exists():
                cluster.initialise(sync=self.settings.get("fsync", "on") != "off")
            if not self.password_file.exists():
                # A new cluster, or one made by an older release without passwords.
                cluster.halt()
                self._secure(cluster)
            if not cluster.answers():
                cluster.configure(self.settings)
                cluster.launch()
            self._holder.share()

    def _prepare_folder(self) -> None:
        try:
            prepare_data_dir(self.data_dir, server_user(self.data_dir / "pgdata"))
        except (OSError, LookupError) as error:
            raise ServerStartFailed(self.data_dir, str(error)) from error

    def _secure(self, cluster: Cluster) -> None:
        """Give every login a password; the file is written last, so that a killed start repeats this."""
        passwords = new_passwords((SUPERUSER, RUNTIME, OPERATOR))
        cluster.secure(DATABASE, {login: scram_verifier(secret) for login, secret in passwords.items()})
        write_passwords(self.password_file, passwords)

    @property
    def password_file(self) -> Path:
        """The passwords of the three logins, in libpq's format; only its owner may read it."""
        return self.data_dir / FILE_NAME

    def running(self) -> bool:
        """Whether the server of this data directory answers."""
        if not (self.data_dir / "pgdata").exists():
            return False
        with self._lock():
            return Cluster.locate(self.data_dir).answers()

    def left_running(self) -> bool:
        """Whether the server is running although no process holds it: it was left running on purpose."""
        if not self.running():
            return False
        probe = FileLock(self.data_dir / "holders")
        free = probe.try_take()
        probe.release()
        return free

    def release(self, *, stop_when_last: bool = False) -> bool:
        """Release the server; with `stop_when_last`, stop it if no other process holds it. True: stopped."""
        if not self._holder.held:
            return False
        with self._lock():
            self._holder.release()
            if not (stop_when_last and self._holder.try_take()):
                return False
            try:
                self._cluster.halt()
            finally:
                self._holder.release()
            return True

    def stop(self) -> None:
        """Stop the server now, even if in use; open transactions roll back, nothing committed is lost."""
        if not (self.data_dir / "pgdata").exists():
            return
        with self._lock():
            self._holder.release()
            Cluster.locate(self.data_dir).halt()

    def destroy(self) -> None:
        """Stop the server and delete its data, wherever it is stored."""
        pgdata = self.data_dir / "pgdata"
        if not pgdata.exists():
            return
        with self._lock():
            self._holder.release()
            cluster = Cluster.locate(self.data_dir)
            cluster.halt()
            sheltered = pgdata.is_symlink()
            shutil.rmtree(cluster.pgdata.parent if sheltered else cluster.pgdata)
            if cluster.sockets != cluster.pgdata:
                shutil.rmtree(cluster.sockets)
            pgdata.unlink(missing_ok=True)
            self.password_file.unlink(missing_ok=True)

    def url(self, role: str = SUPERUSER, database: str = DATABASE) -> str:
        """An address for both the driver and psql; the server must have been started."""
        # Name the port explicitly, or PGPORT in the environment would override it.
        host = quote(str(self._cluster.sockets), safe="/")
        passwords = quote(str(self.password_file), safe="/")
        return f"postgresql://{quote(role)}@/{quote(database)}?host={host}&port=5432&passfile={passwords}"

    def binary(self, name: str) -> Path:
        """The path of a program of this server's version: psql, pg_dump, …"""
        return self._cluster.binary(name)

    @property
    def _cluster(self) -> Cluster:
        if self._located is None:
            raise RuntimeError("call start() first")
        return self._located

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self.data_dir / "lock")


if __name__ == "__main__":
    # make clean: python -m penstock.db.embedded.server destroy <data directory>
    match sys.argv[1:]:
        case ["destroy", folder]:
            EmbeddedServer(Path(folder)).destroy()
        case _:
            sys.exit("usage: python -m penstock.db.embedded.server destroy <data directory>")
