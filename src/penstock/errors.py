"""Every error Penstock raises: one root, a field for each noun, the remedy in the text."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self


class PenstockError(Exception):
    """Root of all errors; its text is what happened, then what to do about it."""

    sqlstate: ClassVar[str | None] = None

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return ". ".join(part.rstrip(".") for part in (self.message, self.remedy) if part) + "."


class Refused(PenstockError):
    """What an SQL function refuses, by SQLSTATE; `field` names the argument or thing at fault."""

    default_remedy: ClassVar[str] = ""

    def __init__(self, message: str, field: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message, remedy or self.default_remedy)
        self.field = field
        self.args = (message, field, remedy)  # what unpickling calls the class with

    @classmethod
    def from_sql(cls, message: str, field: str | None = None, remedy: str | None = None) -> Self:
        """Build the error out of a raised message, its detail (the field) and its hint (the remedy)."""
        return cls(message, field, remedy)


class UnknownTaskType(Refused):
    """No such task type is registered."""

    sqlstate = "PS001"
    default_remedy = "Register the task type before enqueuing it"


class UnknownQueue(Refused):
    """No such queue exists."""

    sqlstate = "PS002"
    default_remedy = "Create the queue first, or correct its name"


class PayloadInvalid(Refused):
    """A payload is not what its task type takes."""

    sqlstate = "PS003"
    default_remedy = "Send a JSON object"


class PayloadTooLarge(Refused):
    """A payload is over the limit."""

    sqlstate = "PS004"
    default_remedy = "Store the content elsewhere and send its id"


class InvalidArgument(Refused):
    """An argument is out of its range; `field` names it."""

    sqlstate = "PS005"
    default_remedy = "Correct the argument"


class LeaseLost(Refused):
    """The lease is no longer the caller's: somebody else has the task, or it is closed."""

    sqlstate = "PS006"
    default_remedy = "Drop the work; whoever holds the task now finishes it"


class TaskNotFound(Refused):
    """No task has this id."""

    sqlstate = "PS007"
    default_remedy = "Check the id; tasks past their retention are gone"


class LeaseHeldElsewhere(Refused):
    """Another worker holds the lease right now."""

    sqlstate = "PS008"
    default_remedy = "Wait until the other worker closes the lease or loses it"


class WorkerLost(Refused):
    """The worker was declared lost, its leases given away."""

    sqlstate = "PS009"
    default_remedy = "Register the worker again under a new id"


class ScheduleNotFound(Refused):
    """No schedule has this name."""

    sqlstate = "PS010"
    default_remedy = "List the schedules to see their names"


class InvalidMove(Refused):
    """The state does not allow this move."""

    sqlstate = "PS011"
    default_remedy = "Look at the current state first"


class NoTenant(Refused):
    """A call that belongs to a tenant was made without one."""

    sqlstate = "PS012"
    default_remedy = "Set penstock.tenant_id for the transaction"


class NotFound(Refused):
    """This tenant has no such thing; `field` names what was looked for."""

    sqlstate = "PS013"
    default_remedy = "Check the id, and that it belongs to this tenant"


class Conflict(Refused):
    """Something of this name or content is there already."""

    sqlstate = "PS014"
    default_remedy = "Use the one that is there, or choose another name"


class TooLarge(Refused):
    """A document is over the tenant's limit."""

    sqlstate = "PS015"
    default_remedy = "Send a smaller file, or raise the tenant's max_upload_bytes"


class KeyRefused(Refused):
    """An API key is unknown, expired, revoked, or lacks the scope."""

    sqlstate = "PS016"
    default_remedy = "Make a key: penstock tenant key create TENANT"


class TenantClosed(Refused):
    """The tenant is deleted or being deleted; nothing more is taken in."""

    sqlstate = "PS017"
    default_remedy = "Use another tenant"


class FunctionRefused(Refused):
    """A name given to internal.run_function() is none of a registered business function."""

    sqlstate = "PS018"
    default_remedy = "Register the process it belongs to, or correct the name"


class AnswerRefused(Refused):
    """A business function answered what its caller cannot take: no envelope, or no success."""

    sqlstate = "PS019"
    default_remedy = "Mend the function; the processes guide says what it answers"


class QuotaExceeded(Refused):
    """The tenant's quota of documents, stored bytes or keys is used up; `field` names which."""

    sqlstate = "PS020"
    default_remedy = "Delete some, or raise the quota: penstock tenant set SLUG"


class IndexNotReady(Refused):
    """The database has no pgvector and can keep no vectors; the remedy says what a superuser has to run."""

    sqlstate = "PS021"
    default_remedy = "As a superuser run: create extension vector; then: penstock migrate"


REFUSALS: dict[str, type[Refused]] = {
    state: refusal for refusal in Refused.__subclasses__() if (state := refusal.sqlstate) is not None
}


class DatabaseNewer(PenstockError):
    """The database was migrated by newer code than this."""

    def __init__(self, database_version: int, code_version: int) -> None:
        super().__init__(
            f"The database is at version {database_version}, this code knows version {code_version}",
            "Install the Penstock release that migrated the database, or a newer one",
        )
        self.database_version = database_version
        self.code_version = code_version
        self.args = (database_version, code_version)


class MigrationChanged(PenstockError):
    """A migration that was already applied is not the one in the code."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Migration {path} was changed or removed after it was applied",
            "Restore the file as it was and put the change into a new migration",
        )
        self.path = path
        self.args = (path,)


class NotMigrated(PenstockError):
    """The database lacks migrations this code needs."""

    def __init__(self, database_version: int | None, code_version: int) -> None:
        found = "has no Penstock schema" if database_version is None else f"is at version {database_version}"
        super().__init__(
            f"The database {found}, this code needs version {code_version}", "Run: penstock migrate"
        )
        self.database_version = database_version
        self.code_version = code_version
        self.args = (database_version, code_version)


class UnsafeRole(PenstockError):
    """A process connected as a role that row security does not bind."""

    def __init__(self, role: str, reason: str) -> None:
        super().__init__(
            f"Role {role} {reason}",
            "Connect as a login that is only a member of worker_service_user and penstock_api "
            "(penstock_runtime), or of service_role (penstock_operator) for operator commands",
        )
        self.role = role
        self.reason = reason
        self.args = (role, reason)


class BadCron(PenstockError):
    """A cron expression does not parse."""

    def __init__(self, expression: str, reason: str) -> None:
        super().__init__(
            f"Cron expression {expression!r} is wrong: {reason}",
            "Write five fields, minute hour day month weekday, for example '*/5 * * * *'",
        )
        self.expression = expression
        self.reason = reason
        self.args = (expression, reason)


class SettingInvalid(PenstockError):
    """A setting has a value it cannot have."""

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable} is invalid: {reason}", f"Correct {variable} in the environment or .env")
        self.variable = variable
        self.reason = reason
        self.args = (variable, reason)


class PortTaken(PenstockError):
    """The API cannot listen on its port."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        other = f"--port {port + 1}, " if 0 < port < 65_535 else ""
        super().__init__(
            f"The API cannot listen on {host}:{port}: {reason}",
            f"Add {other}--port 0 for a free one, or set PENSTOCK_API_PORT",
        )
        self.field = "PENSTOCK_API_PORT"
        self.host = host
        self.port = port
        self.reason = reason
        self.args = (host, port, reason)


class AlreadyRunning(PenstockError):
    """`penstock up` runs in this folder already."""

    def __init__(self, data_dir: Path, pid: object = None, url: object = None) -> None:
        known = ", ".join(part for part in (f"process {pid}" if pid else "", str(url or "")) if part)
        super().__init__(
            f"penstock up is already running in {data_dir}" + (f" ({known})" if known else ""),
            "Use that one, or stop it"
            + (f" (Ctrl-C there, or kill {pid})" if pid else " (Ctrl-C there)")
            + "; set PENSTOCK_DATA_DIR to run another beside it",
        )
        self.data_dir = data_dir
        self.pid = pid
        self.url = url
        self.args = (data_dir, pid, url)


class ServerStartFailed(PenstockError):
    """The embedded Postgres could not be started or reached."""

    def __init__(self, data_dir: Path, reason: str, log_tail: str = "") -> None:
        tail = f"\n{log_tail.rstrip()}\n" if log_tail else ""
        super().__init__(
            f"The embedded Postgres in {data_dir} did not start: {reason}{tail}",
            "Correct that, or set PENSTOCK_DATABASE_URL to use a server of your own",
        )
        self.data_dir = data_dir
        self.reason = reason
        self.log_tail = log_tail
        self.args = (data_dir, reason, log_tail)


class AppNotFound(PenstockError):
    """The named module holds no Penstock app."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(
            f"No app at {target!r}: {reason}",
            "Name it as module:variable, for example --app shop.tasks:app",
        )
        self.target = target
        self.reason = reason
        self.args = (target, reason)


class DatabaseUnreachable(PenstockError):
    """Nobody answers at the database's address, or it rejects our login."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        super().__init__(
            f"The database cannot be reached: {reason}",
            remedy or "Check PENSTOCK_DATABASE_URL and that the server runs and lets this login in",
        )
        self.reason = reason
        self.args = (reason, remedy)


class SchemaOutdated(PenstockError):
    """The database lacks an object this code calls."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The schema is not this code's: {reason}", "Run: penstock migrate")
        self.reason = reason
        self.args = (reason,)


class NotAllowed(PenstockError):
    """The login lacks the right to do this."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This login may not do that: {reason}",
            "Set PENSTOCK_OPERATOR_URL to a login in service_role, penstock_api and penstock_reader",
        )
        self.reason = reason
        self.args = (reason,)


class ProgramFailed(PenstockError):
    """A program of Postgres (pg_dump, pg_restore, psql) is missing or failed."""

    def __init__(self, program: str, reason: str, remedy: str = "Correct that and try again") -> None:
        super().__init__(f"{program} failed: {reason}", remedy)
        self.program = program
        self.reason = reason
        self.args = (program, reason, remedy)


class DocumentRejected(PenstockError):
    """A document cannot become text; `code` is one of the fixed reasons and trying again does not help."""

    def __init__(self, code: str, reason: str, remedy: str = "") -> None:
        super().__init__(f"{code}: {reason}", remedy)
        self.code = code
        self.reason = reason
        self.args = (code, reason, remedy)


class EmbedderBusy(PenstockError):
    """The embedder asks to be called later; `retry_after` seconds if it said so."""

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(f"the embedder {model} is busy: {reason}", "Penstock waits and tries again")
        self.model = model
        self.reason = reason
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)


class EmbedderFailed(PenstockError):
    """The embedder broke or answered nonsense; another try may help."""

    def __init__(self, model: str, reason: str, remedy: str = "Penstock tries again by itself") -> None:
        super().__init__(f"the embedder {model} failed: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class EmbedderUnavailable(EmbedderFailed):
    """The embedder does not answer, or says it cannot now; it may ask to be called after `retry_after` s."""

    def __init__(self, model: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(model, reason)
        self.message = f"the embedder {model} is unavailable: {reason}"
        self.retry_after = retry_after
        self.args = (model, reason, retry_after)


class SpoolFull(PenstockError):
    """Unfinished uploads hold as many bytes as may be held: of this tenant, or of the whole process."""

    def __init__(self, limit: int, setting: str, *, of_tenant: bool) -> None:
        whose = "This tenant's unfinished uploads" if of_tenant else "The unfinished uploads of this process"
        super().__init__(
            f"{whose} would hold more than {limit} bytes with this one",
            f"Try again when some have ended; or raise {setting}",
        )
        self.limit = limit
        self.setting = setting
        self.of_tenant = of_tenant
        self.args = (limit, setting)


class EmbedderOutOfMemory(EmbedderFailed):
    """A local model needs more memory than there is."""

    def __init__(self, model: str) -> None:
        super().__init__(
            model,
            "it ran out of memory",
            "Give the worker more memory, or set PENSTOCK_INGEST_CONCURRENCY lower, then retry the document",
        )
        self.args = (model,)


class EmbedderRefused(PenstockError):
    """The embedder will never take this: a wrong key, an unknown model, a text too long."""

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        super().__init__(f"the embedder {model} refuses: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class ModelInstallFailed(PenstockError):
    """A model could not be installed; what was installed before stays as it was."""

    def __init__(self, model: str, reason: str, remedy: str) -> None:
        super().__init__(f"the model {model} was not installed: {reason}", remedy)
        self.model = model
        self.reason = reason
        self.args = (model, reason, remedy)


class IndexUnavailable(PenstockError):
    """The index outside the database does not answer, or not as it should; another try may help."""

    def __init__(self, index: str, reason: str) -> None:
        super().__init__(
            f"the index {index} failed: {reason}", "Check that it runs and PENSTOCK_QDRANT_URL leads to it"
        )
        self.index = index
        self.reason = reason
        self.args = (index, reason)
