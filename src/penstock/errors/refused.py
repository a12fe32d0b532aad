"""Calls that SQL functions reject, one class per SQLSTATE."""

from __future__ import annotations

from penstock.errors.root import Refused


class UnknownTaskType(Refused):
    """No such task type is registered."""

    sqlstate = "PS001"
    default_remedy = "Register the task type before enqueuing it"


class UnknownQueue(Refused):
    """No such queue exists."""

    sqlstate = "PS002"
    default_remedy = "Create the queue first, or correct its name"


class PayloadInvalid(Refused):
    """A payload does not match its task type."""

    sqlstate = "PS003"
    default_remedy = "Send a JSON object"


class PayloadTooLarge(Refused):
    """A payload is larger than the limit."""

    sqlstate = "PS004"
    default_remedy = "Store the content elsewhere and send its id"


class InvalidArgument(Refused):
    """An argument is out of range; `field` names it."""

    sqlstate = "PS005"
    default_remedy = "Correct the argument"


class LeaseLost(Refused):
    """The caller no longer holds the lease: another worker has the task, or it is closed."""

    sqlstate = "PS006"
    default_remedy = "Drop the work; the worker that holds the task now will finish it"


class TaskNotFound(Refused):
    """No task has this id."""

    sqlstate = "PS007"
    default_remedy = "Check the id; tasks older than the retention period have been deleted"


class LeaseHeldElsewhere(Refused):
    """Another worker holds the lease right now."""

    sqlstate = "PS008"
    default_remedy = "Wait until the other worker closes the lease or loses it"


class WorkerLost(Refused):
    """The worker was declared lost and its leases were given to others."""

    sqlstate = "PS009"
    default_remedy = "Register the worker again under a new id"


class ScheduleNotFound(Refused):
    """No schedule has this name."""

    sqlstate = "PS010"
    default_remedy = "List the schedules to see their names"


class InvalidMove(Refused):
    """The current state does not allow this change."""

    sqlstate = "PS011"
    default_remedy = "Check the current state first"


class NoTenant(Refused):
    """A call that needs a tenant was made without one."""

    sqlstate = "PS012"
    default_remedy = "Set penstock.tenant_id for the transaction"


class NotFound(Refused):
    """This tenant has no such object; `field` names what was looked up."""

    sqlstate = "PS013"
    default_remedy = "Check the id, and that it belongs to this tenant"


class Conflict(Refused):
    """An object with this name or content already exists."""

    sqlstate = "PS014"
    default_remedy = "Use the existing one, or choose another name"


class TooLarge(Refused):
    """A document is larger than the tenant's limit."""

    sqlstate = "PS015"
    default_remedy = "Send a smaller file, or raise the tenant's max_upload_bytes"


class KeyRefused(Refused):
    """An API key is unknown, expired or revoked, or lacks the scope."""

    sqlstate = "PS016"
    default_remedy = "Create a key: penstock tenant key create TENANT"


class TenantClosed(Refused):
    """The tenant is deleted or being deleted; it accepts nothing new."""

    sqlstate = "PS017"
    default_remedy = "Use another tenant"


class FunctionRefused(Refused):
    """internal.run_function() was given a name that is not a registered business function."""

    sqlstate = "PS018"
    default_remedy = "Register the function's process, or correct the name"


class AnswerRefused(Refused):
    """A business function returned something its caller cannot use: not an envelope, or not a success."""

    sqlstate = "PS019"
    default_remedy = "Fix the function; the processes guide describes what it must return"


class QuotaExceeded(Refused):
    """The tenant's quota of documents, stored bytes or keys is used up; `field` names which."""

    sqlstate = "PS020"
    default_remedy = "Delete some, or raise the quota: penstock tenant set SLUG"


class IndexNotReady(Refused):
    """The database has no pgvector and cannot store vectors; the remedy says what a superuser has to run."""

    sqlstate = "PS021"
    default_remedy = "As a superuser run: create extension vector; then: penstock migrate"


class VaultKeyReplaced(Refused):
    """A master key of the vault may not encrypt new secrets any more; the process reads its keys again."""

    sqlstate = "PS022"
    default_remedy = "Give this process the new vault key; penstock vault status lists the keys"


REFUSALS: dict[str, type[Refused]] = {
    state: refusal for refusal in Refused.__subclasses__() if (state := refusal.sqlstate) is not None
}
"""The class to raise for each SQLSTATE."""
