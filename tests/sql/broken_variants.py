"""Functions of the queue with one deliberate mistake each, made from the real text so that they follow it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

FUNCTIONS = files("penstock.sql") / "queues" / "functions"


@dataclass(frozen=True, slots=True)
class Variant:
    """A function, the texts replaced in it, and what the mistake would do."""

    name: str
    function: str
    replacements: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """The broken function; fails when the real one no longer has the text to replace."""
        text = (FUNCTIONS / f"{self.function}.sql").read_text()
        for found, instead in self.replacements:
            assert text.count(found) == 1, f"{self.function}.sql has {text.count(found)} times: {found}"
            text = text.replace(found, instead)
        return text


VARIANTS = (
    Variant(
        "complete_without_the_fence",
        "complete",
        (("where l.worker_id = _worker_id and l.lease_id", "where l.lease_id"),),
    ),
    Variant(
        "rescue_leaves_the_lease",
        "rescue",
        (
            ("delete from queues.lease l", "select l.* from queues.lease l"),
            ("    returning l.*\n", ""),
        ),
    ),
    Variant(
        "hand_over_forgets_who_is_parked",
        "hand_over",
        (("from queues.parked p where p.key = _key order by", "from queues.parked p where false order by"),),
    ),
    Variant(
        "a_coalesced_task_is_merged_into_the_running_one",
        "admit_keyed",
        (("if exists (select from queues.parked p where p.key = v_task.unique_key) then", "if true then"),),
    ),
    Variant(
        "a_closed_holder_still_holds",
        "settle_key",
        (("and h.task_id = g.task_id", "and h.task_id = g.task_id and false"),),
    ),
    Variant(
        "claim_leaves_the_ready_row",
        "claim",
        (
            (
                "delete from queues.ready r\n",
                "select r.lane, r.seq, r.task_id, r.failures, r.losses, r.held from queues.ready r\n",
            ),
            ("returning r.lane, r.seq, r.task_id, r.failures, r.losses, r.held\n", ""),
        ),
    ),
    Variant(
        "fail_does_not_count_the_attempt",
        "fail",
        (
            (
                "perform queues.return_task(v_lease, v_lease.failures + 1,",
                "perform queues.return_task(v_lease, v_lease.failures,",
            ),
        ),
    ),
    Variant(
        "fail_loses_the_task_that_is_to_be_retried",
        "fail",
        (("perform queues.return_task(v_lease, v_lease.failures + 1, v_lease.losses, retry_at);", ""),),
    ),
    Variant(
        "rescue_charges_a_loss_as_an_attempt",
        "rescue",
        (
            (
                "queues.return_task(v_lease, v_lease.failures, v_lease.losses + 1,",
                "queues.return_task(v_lease, v_lease.failures + 1, v_lease.losses,",
            ),
        ),
    ),
    Variant(
        "cancel_leaves_the_ready_row",
        "cancel_task",
        (
            (
                "delete from queues.ready r where r.lane = v_lane and r.seq = _task_id",
                "perform 1 from queues.ready r where r.lane = v_lane and r.seq = _task_id",
            ),
        ),
    ),
    Variant(
        "a_retry_keeps_its_slot",
        "return_task",
        (("perform queues.free_keys(array[_lease.task_id], false);", ""),),
    ),
    Variant(
        "replay_leaves_the_dead_letter",
        "replay",
        (
            ("    delete from queues.dead_letter x\n", "    select x.* from queues.dead_letter x\n"),
            ("    returning x.*\n", ""),
        ),
    ),
)
