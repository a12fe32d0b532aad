"""What a failure leads to: another attempt by the type's policy, or a dead letter that keeps everything."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.plugins.database import Database
from tests.sql.queue_calls import Calls, calls, rows, value

TABLE = {"default": {"kind": "table", "delays": [0, 30, 300]}}
EXPONENTIAL = {"default": {"kind": "exponential", "base": 1, "factor": 4, "cap": 3600, "jitter": 0.25}}


async def dead(queue: Calls, task: int) -> dict[str, object]:
    shown: dict[str, object] = json.loads(await value(queue.operator, "show_dead", task))
    return shown


async def test_a_table_of_delays_runs_now_after_thirty_seconds_and_after_five_minutes(
    database: Database,
) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry=TABLE)
        worker = await queue.worker(lease_seconds=10000)
        task = await queue.enqueue()
        for seconds in (30, 300):
            answer = await queue.fail(worker, await queue.claim_one(worker))
            assert (answer["outcome"], answer["retry_at"] - queue.clock.now) == (
                "retry",
                timedelta(seconds=seconds),
            )
            await queue.clock.advance(seconds=seconds - 1)
            assert await queue.claim(worker) == []
            await queue.clock.advance(seconds=1)
        last = await queue.claim_one(worker)
        assert last["failures"] == 2
        answer = await queue.fail(worker, last)
        assert (answer["outcome"], answer["retry_at"]) == ("dead", None)
        assert await queue.state(task) == "dead"
        assert await queue.outcomes(task) == ["failed", "failed", "failed"]
        assert (await dead(queue, task))["reason"] == "exhausted"


async def test_exponential_delays_grow_by_their_factor_within_their_jitter(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry=EXPONENTIAL, max_attempts=4)
        worker = await queue.worker(lease_seconds=10000)
        tasks = await queue.enqueue_many(30)
        for least in (1, 4, 16):
            leases = await queue.claim(worker, 100)
            assert len(leases) == 30
            delays = [
                ((await queue.fail(worker, lease))["retry_at"] - queue.clock.now).total_seconds()
                for lease in leases
            ]
            assert all(least <= delay <= least * 1.25 for delay in delays), delays
            assert len(set(delays)) > 20
            await queue.clock.advance(minutes=1)
        for lease in await queue.claim(worker, 100):
            assert (await queue.fail(worker, lease))["outcome"] == "dead"
        assert {await queue.state(task) for task in tasks} == {"dead"}


async def test_an_exponential_delay_stops_growing_at_its_cap(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry={"default": {"kind": "exponential", "base": 10, "factor": 10, "cap": 60}})
        worker = await queue.worker(lease_seconds=10000)
        await queue.enqueue()
        for seconds in (10, 60, 60):
            answer = await queue.fail(worker, await queue.claim_one(worker))
            assert answer["retry_at"] - queue.clock.now == timedelta(seconds=seconds)
            await queue.clock.advance(seconds=seconds)


async def test_a_type_without_retries_dies_of_its_first_failure(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry={"default": {"kind": "none"}})
        worker = await queue.worker()
        await queue.enqueue()
        assert (await queue.fail(worker, await queue.claim_one(worker)))["outcome"] == "dead"


async def test_the_policy_for_an_error_takes_precedence_over_the_default(database: Database) -> None:
    async with calls(database) as queue:
        errors = {"NotFound": {"kind": "none"}, "Busy": {"kind": "table", "delays": [0, 7]}}
        await queue.put_type(retry={**TABLE, "errors": errors})
        worker = await queue.worker(lease_seconds=10000)
        lost, busy, other = await queue.enqueue_many(3)
        leases = {lease["task_id"]: lease for lease in await queue.claim(worker, 10)}
        answers = [
            await queue.fail(worker, leases[lost], "NotFound"),
            await queue.fail(worker, leases[busy], "Busy"),
            await queue.fail(worker, leases[other], "Whatever"),
        ]
        assert [answer["outcome"] for answer in answers] == ["dead", "retry", "retry"]
        waits = [answer["retry_at"] - queue.clock.now for answer in answers[1:]]
        assert waits == [timedelta(seconds=7), timedelta(seconds=30)]
        assert (await dead(queue, lost))["reason"] == "not_retriable"


async def test_retry_after_overrides_the_delay_but_not_the_number_of_attempts(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry={"default": {"kind": "table", "delays": [0, 30]}})
        worker = await queue.worker(lease_seconds=10000)
        await queue.enqueue()
        answer = await queue.fail(worker, await queue.claim_one(worker), retry_after=90)
        assert answer["retry_at"] - queue.clock.now == timedelta(seconds=90)
        await queue.clock.advance(seconds=90)
        assert (await queue.fail(worker, await queue.claim_one(worker), retry_after=90))["outcome"] == "dead"


async def test_a_final_failure_is_not_tried_again(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.die(worker)
        assert (await dead(queue, task))["reason"] == "not_retriable"
        await queue.clock.advance(days=1)
        assert await queue.claim(await queue.worker(), 10) == []


async def test_a_dead_letter_keeps_the_task_and_every_attempts_error(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry=TABLE)
        worker = await queue.worker(lease_seconds=10000)
        task = await queue.enqueue(
            {"document_id": 7}, tenant_id="00000000-0000-0000-0000-00000000000a", priority=2
        )
        for number in (1, 2, 3):
            lease = await queue.claim_one(worker)
            await rows(
                queue.runtime,
                "fail",
                worker,
                [lease["lease_id"]],
                [f"Error{number}"],
                [f"message {number}"],
                [json.dumps({"trace": number})],
            )
            await queue.clock.advance(minutes=6)
        letter = await dead(queue, task)
        assert letter["payload"] == {"document_id": 7}
        assert (letter["queue"], letter["priority"], letter["attempts"], letter["losses"]) == (
            "default",
            2,
            3,
            0,
        )
        assert (letter["error_code"], letter["error_message"]) == ("Error3", "message 3")
        errors = letter["errors"]
        assert isinstance(errors, list)
        assert [
            (e["attempt"], e["error_code"], e["error_message"], e["details"], e["worker_id"]) for e in errors
        ] == [(n, f"Error{n}", f"message {n}", {"trace": n}, worker) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("no document 17", "no document 3000", True),
        ('key "a" is taken', 'key "b" is taken', True),
        ("of 0189d1f2-6f0a-7c3e-9d3b-1f2e3d4c5b6a", "of 0189d1f2-6f0a-7c3e-9d3b-aaaaaaaaaaaa", True),
        ("at 0x7f00aa", "at 0x1", True),
        ("timed out\nafter 3", "timed out\nin line 9 of x", True),
        ("no document 17", "no tenant 17", False),
    ],
)
async def test_errors_that_differ_only_in_ids_have_one_fingerprint(
    database: Database, one: str, other: str, same: bool
) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        prints = [
            (await dead(queue, await queue.die(worker, message=m)))["fingerprint"] for m in (one, other)
        ]
        assert (prints[0] == prints[1]) is same
        coded = await dead(queue, await queue.die(worker, message=one, code="Other"))
        assert coded["fingerprint"] != prints[0]


async def test_a_lost_worker_does_not_count_as_an_attempt(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue()
        await queue.claim_one(worker)
        assert [row["outcome"] for row in await queue.lose()] == ["returned"]
        lease = await queue.claim_one(await queue.worker())
        assert (lease["failures"], lease["losses"]) == (0, 1)


async def test_three_lost_workers_put_a_task_in_quarantine(database: Database) -> None:
    async with calls(database) as queue:
        task = await queue.enqueue()
        ends = []
        for _ in range(3):
            await queue.claim_one(await queue.worker())
            ends += [row["outcome"] for row in await queue.lose()]
        assert ends == ["returned", "returned", "quarantined"]
        letter = await dead(queue, task)
        assert (letter["reason"], letter["attempts"], letter["losses"]) == ("quarantined", 0, 3)
        assert letter["error_code"] == "WorkerLost"


async def test_a_task_is_not_convicted_while_workers_are_lost_without_it(database: Database) -> None:
    """Kills, restarts and frozen machines hit tasks by chance; it takes twice as many to be no chance."""
    async with calls(database) as queue:
        await queue.admin.execute("select queues.put_queue('elsewhere')")
        task = await queue.enqueue()
        ends = []
        for _ in range(6):
            other = await queue.worker(name="killed without it")
            await queue.enqueue(queue="elsewhere")
            await queue.claim_one(other, "elsewhere")
            await queue.claim_one(await queue.worker())
            ends += [row["outcome"] for row in await queue.lose() if row["task_id"] == task]
        assert ends == ["returned"] * 5 + ["quarantined"]
        assert (await dead(queue, task))["losses"] == 6


async def test_workers_lost_an_hour_ago_acquit_nobody(database: Database) -> None:
    async with calls(database) as queue:
        await queue.enqueue()
        await queue.worker()
        await queue.lose()
        await queue.clock.advance(seconds=3600)
        ends = []
        for _ in range(3):
            await queue.claim_one(await queue.worker())
            ends += [row["outcome"] for row in await queue.lose()]
        assert ends == ["returned", "returned", "quarantined"]


async def test_a_worker_that_registers_again_was_not_killed(database: Database) -> None:
    async with calls(database) as queue:
        await queue.enqueue()
        ends = []
        for _ in range(4):
            frozen = await queue.worker()
            await queue.claim_one(frozen)
            ends += [row["outcome"] for row in await queue.lose()]
            again = await value(
                queue.runtime, "register_worker", "w", ["default"], timedelta(seconds=30), replaces=frozen
            )
            await rows(queue.runtime, "stop_worker", again)
        assert ends == ["returned"] * 4


async def test_a_convicted_task_explains_the_workers_it_killed(database: Database) -> None:
    """Two tasks that kill their workers: the first conviction must not acquit the second."""
    async with calls(database) as queue:
        first, second = await queue.enqueue_many(2)
        for _ in range(2):
            await queue.claim(await queue.worker(), 2)
            await queue.lose()
        outcomes: dict[int, str] = {}
        for _ in range(2):  # suspects run one at a time
            await queue.claim_one(await queue.worker())
            outcomes |= {row["task_id"]: row["outcome"] for row in await queue.lose()}
        assert outcomes == {first: "quarantined", second: "quarantined"}


async def test_losses_and_failures_are_counted_separately(database: Database) -> None:
    async with calls(database) as queue:
        await queue.put_type(retry={"default": {"kind": "table", "delays": [0, 0]}})
        task = await queue.enqueue()
        await queue.claim_one(await queue.worker())
        await queue.lose()
        worker = await queue.worker()
        assert (await queue.fail(worker, await queue.claim_one(worker)))["outcome"] == "retry"
        await queue.claim_one(worker)
        await queue.lose()
        worker = await queue.worker()
        lease = await queue.claim_one(worker)
        assert (lease["failures"], lease["losses"]) == (1, 2)
        assert (await queue.fail(worker, lease))["outcome"] == "dead"
        letter = await dead(queue, task)
        assert (letter["reason"], letter["attempts"], letter["losses"]) == ("exhausted", 2, 2)


async def test_failing_a_lease_that_is_gone_writes_nothing(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        task = await queue.enqueue()
        lease = await queue.claim_one(worker)
        await queue.lose()
        answer = await queue.fail(worker, lease)
        assert (answer["lease_id"], answer["outcome"], answer["retry_at"]) == (
            lease["lease_id"],
            "gone",
            None,
        )
        assert await queue.count("error") == 0
        assert await queue.outcomes(task) == ["lost"]


@pytest.mark.parametrize("call", ["snooze", "release"])
async def test_a_task_handed_back_costs_no_attempt(database: Database, call: str) -> None:
    async with calls(database) as queue:
        worker = await queue.worker()
        await queue.enqueue()
        for _ in range(10):
            lease = await queue.claim_one(worker)
            assert (lease["failures"], lease["losses"]) == (0, 0)
            extra = [[0.0]] if call == "snooze" else []
            assert await queue.close(call, worker, lease, *extra) == [lease["lease_id"]]
            assert await queue.close(call, worker, lease, *extra) == []


async def test_a_snoozed_task_runs_after_its_time(database: Database) -> None:
    async with calls(database) as queue:
        worker = await queue.worker(lease_seconds=10000)
        task = await queue.enqueue()
        await queue.close("snooze", worker, await queue.claim_one(worker), [120.0])
        await queue.clock.advance(seconds=119)
        assert await queue.claim(worker) == []
        await queue.clock.advance(seconds=1)
        assert await queue.claimed_ids(worker) == [task]
        assert await queue.outcomes(task) == ["snoozed"]
