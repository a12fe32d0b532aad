"""What can go wrong between a process and its Postgres server."""

from __future__ import annotations

from pathlib import Path

from penstock.errors.root import PenstockError


class UnsafeRole(PenstockError):
    """The process connected as a superuser, as the owner or with BYPASSRLS, or as a member of such a role.

    Before PostgreSQL 16 a login with CREATEROLE is unsafe, too.
    """

    def __init__(self, role: str, reason: str, remedy: str | None = None) -> None:
        login = (
            "onnect as a login that is only a member of worker_service_user and penstock_api "
            "(penstock_runtime), or of service_role (penstock_operator) for operator commands"
        )
        super().__init__(f"Role {role} {reason}", f"{remedy}, or c{login}" if remedy else f"C{login}")
        self.role = role
        self.reason = reason
        self.args = (role, reason)


class DatabaseUnreachable(PenstockError):
    """The server does not answer, or rejects the login."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(
            f"The database cannot be reached: {reason}",
            remedy or "Check PENSTOCK_DATABASE_URL, that the server is running and accepts this login",
        )
        self.reason = reason
        self.args = (reason, remedy)


class NotAllowed(PenstockError):
    """The login does not have the right to do this."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This login lacks the privilege: {reason}",
            "Set PENSTOCK_OPERATOR_URL to a login in service_role, penstock_api and penstock_reader",
        )
        self.reason = reason
        self.args = (reason,)


class ServerStartFailed(PenstockError):
    """The embedded server did not start; `log_tail` is the end of its log."""

    def __init__(self, data_dir: Path, reason: str, log_tail: str = "") -> None:
        tail = f"\n{log_tail.rstrip()}\n" if log_tail else ""
        super().__init__(
            f"The embedded Postgres in {data_dir} did not start: {reason}{tail}",
            "Fix that, or set PENSTOCK_DATABASE_URL to use your own server",
        )
        self.data_dir = data_dir
        self.reason = reason
        self.log_tail = log_tail
        self.args = (data_dir, reason, log_tail)


class ProgramFailed(PenstockError):
    """`pg_dump`, `pg_restore` or `psql` is missing or failed."""

    def __init__(self, program: str, reason: str, remedy: str = "Fix that and try again") -> None:
        super().__init__(f"{program} failed: {reason}", remedy)
        self.program = program
        self.reason = reason
        self.args = (program, reason, remedy)
