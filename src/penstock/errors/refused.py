"""Calls that SQL functions reject, one class per SQLSTATE."""

from __future__ import annotations

from penstock.errors.root import Refused


class UnknownTaskType(Refused):
    """The task type is not declared."""

    sqlstate = "PS001"
    default_remedy = "Register the task type before enqueuing it"


class UnknownQueue(Refused):
    """The queue does not exist."""

    sqlstate = "PS002"
    default_remedy = "Create the queue first, or correct its name"


class PayloadInvalid(Refused):
    """The payload is not a JSON object, lacks a required key, or does not match its Python type."""

    sqlstate = "PS003"
    default_remedy = "Send a JSON object"


class PayloadTooLarge(Refused):
    """The payload is larger than the queue's limit."""

    sqlstate = "PS004"
    default_remedy = "Store the content elsewhere and send its id"


class InvalidArgument(Refused):
    """Another argument is invalid; `field` names it."""

    sqlstate = "PS005"
    default_remedy = "Correct the argument"


class LeaseLost(Refused):
    """The caller no longer holds the lease: another worker has the task, or it is closed.

    Roll back and drop the work.
    """

    sqlstate = "PS006"
    default_remedy = "Drop the work; the worker that holds the task now will finish it"


class TaskNotFound(Refused):
    """The task or dead letter does not exist, or its retention has ended."""

    sqlstate = "PS007"
    default_remedy = "Check the id; tasks older than the retention period have been deleted"


class LeaseHeldElsewhere(Refused):
    """`complete_task` of a task that a worker holds, or that was never dequeued."""

    sqlstate = "PS008"
    default_remedy = "Wait until the other worker closes the lease or loses it"


class WorkerLost(Refused):
    """The worker was declared lost, has stopped, or never registered; it has to register again."""

    sqlstate = "PS009"
    default_remedy = "Register the worker again under a new id"


class ScheduleNotFound(Refused):
    """There is no schedule with that name."""

    sqlstate = "PS010"
    default_remedy = "List the schedules to see their names"


class InvalidMove(Refused):
    """The current state does not allow it, such as completing a run twice or retrying an indexed document."""

    sqlstate = "PS011"
    default_remedy = "Check the current state first"


class NoTenant(Refused):
    """The call needs a tenant, but the transaction has none; set `penstock.tenant_id` first."""

    sqlstate = "PS012"
    default_remedy = "Set penstock.tenant_id for the transaction"


class NotFound(Refused):
    """This tenant has no such object: a document, project, key, source, ingestion or secret.

    `field` names which.
    """

    sqlstate = "PS013"
    default_remedy = "Check the id, and that it belongs to this tenant"


class Conflict(Refused):
    """A tenant or project with this slug, or another document with this content, already exists."""

    sqlstate = "PS014"
    default_remedy = "Use the existing one, or choose another name"


class TooLarge(Refused):
    """The document is larger than the tenant's limit; raised while it is being received."""

    sqlstate = "PS015"
    default_remedy = "Send a smaller file, or raise the tenant's max_upload_bytes"


class KeyRefused(Refused):
    """The API key is unknown, expired or revoked, or lacks the scope."""

    sqlstate = "PS016"
    default_remedy = "Create a key: penstock tenant key create TENANT"


class TenantClosed(Refused):
    """The tenant is deleted or being deleted; nothing more is accepted."""

    sqlstate = "PS017"
    default_remedy = "Use another tenant"


class FunctionRefused(Refused):
    """A name given to `internal.run_function` is not a registered business function."""

    sqlstate = "PS018"
    default_remedy = "Register the function's process, or correct the name"


class AnswerRefused(Refused):
    """A business function did not return an envelope, or a handler did not return success."""

    sqlstate = "PS019"
    default_remedy = "Fix the function; the processes guide describes what it must return"


class QuotaExceeded(Refused):
    """The tenant's quota of documents, stored bytes or keys is used up; `field` names which."""

    sqlstate = "PS020"
    default_remedy = "Delete some, or raise the quota: penstock tenant set SLUG"


class IndexNotReady(Refused):
    """The database has no pgvector; `remedy` says what a superuser has to run."""

    sqlstate = "PS021"
    default_remedy = "As a superuser run: create extension vector; then: penstock migrate"


class VaultKeyReplaced(Refused):
    """A master key of the vault was forgotten, or replaced in AWS KMS.

    The process reads its keys again automatically.
    """

    sqlstate = "PS022"
    default_remedy = "Give this process the new vault key; penstock vault status lists the keys"


class InletPaused(Refused):
    """The inlet is paused: nothing is taken in, and its messages stay with their sender."""

    sqlstate = "PS023"
    default_remedy = "Resume it: penstock inlet resume NAME"


REFUSALS: dict[str, type[Refused]] = {
    state: refusal for refusal in Refused.__subclasses__() if (state := refusal.sqlstate) is not None
}
"""The class to raise for each SQLSTATE."""
