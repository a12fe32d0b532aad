"""One Postgres cluster on disk: initialise, configure, start and stop it with the wheel's programs."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from penstock.db.embedded import server_files
from penstock.db.embedded.ping import takes_connections
from penstock.db.embedded.postmaster import clear_dead_server, running_postmaster
from penstock.db.embedded.server_user import ServerUser, server_user
from penstock.errors import ServerStartFailed

SUPERUSER = "postgres"
START_SECONDS = 60
LOCALE: tuple[str, ...] = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")

HBA = """\
# Written by Penstock at each start: every login needs its password, superusers too.
# To use your own rules, set hba_file at the end of postgresql.conf.
local all all scram-sha-256
"""


@dataclass(frozen=True)
class Cluster:
    """Where a cluster's files are and who runs its programs; callers hold the data directory's lock."""

    data_dir: Path
    user: ServerUser
    pgdata: Path
    sockets: Path

    @classmethod
    def locate(cls, data_dir: Path) -> Self:
        try:
            user = server_user(data_dir / "pgdata")
            pgdata = server_files.cluster(data_dir, user)
            return cls(data_dir, user, pgdata, server_files.socket_dir(pgdata, user))
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            raise ServerStartFailed(data_dir, str(error)) from error

    @cached_property
    def install(self) -> Path:
        """Where the programs are; as root, checks that the server's user can run them."""
        try:
            return server_files.binaries(self.user)
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            raise self.failed(str(error)) from error

    def binary(self, name: str) -> Path:
        return self.install / "bin" / name

    def run(
        self, name: str, *arguments: str | Path, given: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        program = self.binary(name)
        try:
            return self.user.run([program, *arguments], given=given)
        except (OSError, subprocess.SubprocessError) as error:
            raise self.failed(f"{name}: {error}") from error

    def exists(self) -> bool:
        return (self.pgdata / "PG_VERSION").exists()

    def initialise(self, *, sync: bool) -> None:
        """Build next to the final location and rename, so that a killed start leaves no half-made cluster."""
        fresh = self.pgdata.with_name("pgdata.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        self.user.give(fresh)
        options = ["--auth=reject", "--encoding=UTF8", "--no-instructions", *LOCALE]
        if not sync:
            options.append("--no-sync")
        done = self.run("initdb", "-D", fresh, "-U", SUPERUSER, *options)
        if done.returncode != 0:
            raise self.failed("initdb failed", done.stdout)
        with (fresh / "postgresql.conf").open("a") as file:
            file.write("\ninclude_if_exists = 'penstock.conf'\n")
        fresh.rename(self.pgdata)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Write our settings and pg_hba.conf; postgresql.conf is left to the operator."""
        folder = str(self.sockets).replace('"', '""')
        ours = {"unix_socket_directories": f'"{folder}"', "unix_socket_permissions": "0700"}
        lines = [f"{name} = {_quoted(value)}\n" for name, value in {**settings, **ours}.items()]
        self._put("penstock.conf", "".join(lines))
        self._put("pg_hba.conf", HBA)

    def secure(self, database: str, logins: Mapping[str, str]) -> None:
        """Create the database and the logins with their password verifiers while the cluster is stopped.

        Single-user mode accepts no connections, so there is no moment without passwords.
        """
        clear_dead_server(self.pgdata, self.sockets / server_files.SOCKET, START_SECONDS)
        statements = [_ensure_login(login) for login in logins if login != SUPERUSER]
        statements += [f"alter role {login} password '{verifier}'" for login, verifier in logins.items()]
        options = ("-j", "-c", "exit_on_error=true", "-c", "log_min_messages=warning")
        self._single_user("".join(f"{statement};\n\n" for statement in statements), *options)
        # Postgres has no `create database if not exists`, and this database may already exist.
        self._single_user(f"create database {database};\n\n", "-j", ignore="already exists")

    def _single_user(self, statements: str, *options: str, ignore: str | None = None) -> None:
        done = self.run("postgres", "--single", "-D", self.pgdata, *options, SUPERUSER, given=statements)
        refused = [line for line in done.stdout.splitlines() if "ERROR: " in line or "FATAL: " in line]
        if refused and ignore is not None and ignore in refused[0]:
            return
        if refused or done.returncode != 0:
            raise self.failed("the logins could not be created", "\n".join(refused) or done.stdout)

    def launch(self) -> None:
        clear_dead_server(self.pgdata, self.sockets / server_files.SOCKET, START_SECONDS)
        before = self._log_size()
        command = ("-D", self.pgdata, "-l", self._log, "-w", "-t", str(START_SECONDS), "-s", "start")
        done = self.run("pg_ctl", *command)
        if done.returncode != 0:
            raise self.failed(done.stdout.strip() or "pg_ctl failed", self._log_since(before))

    def answers(self) -> bool:
        """Whether the server is running; waits for one that is still starting or recovering."""
        deadline = time.monotonic() + START_SECONDS
        while (pid := self._postmaster()) is not None:
            if takes_connections(self.sockets / server_files.SOCKET):
                return True
            if time.monotonic() > deadline:
                raise self.failed(f"process {pid} does not answer", self._log_since(self._log_size() - 4_000))
            time.sleep(0.1)
        return False

    def halt(self) -> None:
        if self._postmaster() is None:
            return
        done = self.run("pg_ctl", "-D", self.pgdata, "-m", "fast", "-w", "-t", "60", "-s", "stop")
        if done.returncode != 0 and self._postmaster() is not None:
            raise self.failed(f"it did not stop: {done.stdout.strip()}")

    def failed(self, reason: str, log_tail: str = "") -> ServerStartFailed:
        return ServerStartFailed(self.data_dir, reason, log_tail)

    def _put(self, name: str, text: str) -> None:
        """Write a file that only the server's user can read."""
        file = self.pgdata / name
        file.write_text(text)
        file.chmod(0o600)
        self.user.give(file)

    @property
    def _log(self) -> Path:
        return self.pgdata / "server.log"

    def _log_size(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def _log_since(self, offset: int) -> str:
        if not self._log.exists():
            return ""
        with self._log.open("rb") as file:
            file.seek(max(offset, 0))
            return b"\n".join(file.read().splitlines()[-20:]).decode(errors="replace")

    def _postmaster(self) -> int | None:
        return running_postmaster(self.pgdata)


def _ensure_login(login: str) -> str:
    return (
        f"do $$ begin if not exists (select from pg_catalog.pg_roles as r where r.rolname = '{login}') "
        f"then create role {login} login; end if; end $$"
    )


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
