"""Any sequence of calls leaves the queue as its model says, and with time everything ends."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.plugins.database import Database
from tests.sql.queue_machine import machine_of, opened

LONG = bool(os.environ.get("PENSTOCK_CHAOS_LONG"))

SETTINGS = settings(
    max_examples=1_600 if LONG else 40,
    stateful_step_count=40,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)


@pytest.mark.chaos
@pytest.mark.timeout(3_600 if LONG else 180)
def test_any_sequence_of_calls_leaves_the_queue_as_its_model_says(database: Database) -> None:
    with opened(database.admin_url) as session:
        run_state_machine_as_test(machine_of(session), settings=SETTINGS)
