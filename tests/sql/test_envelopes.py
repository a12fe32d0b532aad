"""The envelope as SQL reads it, in the transaction that closes the lease, and as the worker does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.db import Connection
from penstock.db.connect import translated
from penstock.errors import AnswerRefused
from penstock.processes.envelope import MalformedEnvelope, read_envelope
from tests.plugins.database import Database

ANYTHING: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["", "succeeded", "stuck"]), st.just([])
)
ENVELOPES = st.one_of(
    ANYTHING,
    st.fixed_dictionaries(
        {},
        optional={
            "status": ANYTHING,
            "success": ANYTHING,
            "error": ANYTHING,
            "validation_failure_message": ANYTHING,
            "payload": st.one_of(ANYTHING, st.just({"id": 1})),
        },
    ),
)
CASES = 400


async def by_sql(conn: Connection, answers: list[Any]) -> list[bool | None]:
    """What SQL makes of each; None for one that it refuses."""
    await conn.execute("""
        create function pg_temp.read_answer(_answer jsonb) returns boolean language plpgsql as $$
        begin
          return internal.succeeded(_answer);
        exception when sqlstate 'PS019' then
          return null;
        end $$""")
    rows = await conn.fetch(
        "select pg_temp.read_answer(a::jsonb) as succeeded"
        " from unnest($1::text[]) with ordinality as given (a, place) order by place",
        [json.dumps(answer) for answer in answers],
    )
    return [row["succeeded"] for row in rows]


def by_worker(answer: Any) -> bool | None:
    try:
        return read_envelope(answer).succeeded
    except MalformedEnvelope:
        return None


async def test_sql_and_the_worker_read_every_envelope_alike(database: Database) -> None:
    answers: list[Any] = [{"status": "succeeded"}, {"success": True}, {"success": False}, {"status": 1}]

    @settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(ENVELOPES)
    def collect(answer: Any) -> None:
        answers.append(answer)

    collect()
    async with database.connect("admin") as conn:
        read = await by_sql(conn, answers)
    for answer, succeeded in zip(answers, read, strict=True):
        assert succeeded == by_worker(answer), answer
    assert set(read) == {True, False, None}


async def test_a_null_answer_is_not_an_envelope(database: Database) -> None:
    async with database.connect("admin") as conn:
        with pytest.raises(AnswerRefused, match="not an object"), translated():
            await conn.fetchval("select internal.succeeded(null)")
