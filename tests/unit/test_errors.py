"""Errors carry their nouns and their remedy."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from penstock import errors
from penstock.testing.task_results import TaskFailed


def test_every_refusal_has_its_own_sqlstate_and_a_remedy() -> None:
    assert sorted(errors.REFUSALS) == [f"PS{number:03}" for number in range(1, 24)]
    assert all(refusal.default_remedy for refusal in errors.REFUSALS.values())


@pytest.mark.parametrize("refusal", errors.REFUSALS.values(), ids=lambda refusal: refusal.__name__)
def test_a_refusal_from_sql_keeps_message_field_and_remedy(refusal: type[errors.Refused]) -> None:
    error = refusal.from_sql("Priority 12 is out of range", "_priority", "Use 0 to 9")
    assert (error.message, error.field, error.remedy) == (
        "Priority 12 is out of range",
        "_priority",
        "Use 0 to 9",
    )
    assert str(error) == "Priority 12 is out of range. Use 0 to 9."
    assert refusal.default_remedy in str(refusal.from_sql("No"))


@pytest.mark.parametrize(
    "error",
    [
        errors.LeaseLost("Lease 7 is closed", "_lease_id"),
        errors.DatabaseNewer(9, 3),
        errors.MigrationChanged("migrations/0002_queue.sql"),
        errors.SchemaReplaced(),
        errors.SchemaReplaced("all.dump"),
        errors.NotMigrated(None, 3),
        errors.NotMigrated(2, 3),
        errors.UnsafeRole("postgres", "is a superuser"),
        errors.BadCron("* *", "two fields"),
        errors.SettingInvalid("PENSTOCK_CONCURRENCY", "it is 0"),
        errors.ServerStartFailed(Path("data"), "no space", "FATAL: disk full\n"),
        errors.AppNotFound("shop:app", "no module shop"),
        errors.DatabaseUnreachable("connection refused"),
        errors.SchemaOutdated("function queues.stats() does not exist"),
        errors.NotAllowed("permission denied for function pause"),
        errors.ProgramFailed("pg_dump", "it is not installed"),
        errors.SpoolFull(1_000, "PENSTOCK_SPOOL_BYTES", of_tenant=True),
        TaskFailed("PayloadInvalid", "n is missing"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_the_way_out_of_a_child_process(error: errors.PenstockError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    assert str(again) == str(error)
    assert vars(again) == vars(error)
    assert error.remedy.rstrip(".") in str(error)


def test_a_failed_start_shows_the_end_of_the_log() -> None:
    error = errors.ServerStartFailed(Path("data"), "pg_ctl failed", "FATAL: disk full\n")
    assert "FATAL: disk full" in str(error)
    assert "PENSTOCK_DATABASE_URL" in str(error)
