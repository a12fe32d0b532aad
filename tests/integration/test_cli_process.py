"""The command line on processes a worker ran against a real mail server: listed, shown, restarted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.db.tenancy import TenantPool
from tests.contract.test_cli_json import PROCESS_ATTEMPT, keys
from tests.plugins.command_line import CommandLine, Ended
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.smtp import MailServer, mail_server
from tests.plugins.workers import eventually

SHORT_BACKOFF = (
    "create or replace function internal.exponential(_first interval, _factor double precision,"
    " _most interval, _failures integer) returns interval"
    " language sql immutable parallel safe as $$ select interval '50 milliseconds' $$"
)
OVER = "select count(*) = 0 from internal.open_root"


@dataclass(frozen=True, slots=True)
class Office:
    """A tenant that sends mail, and the operator's command line."""

    works: Works
    server: MailServer
    penstock: CommandLine

    async def __call__(self, *words: str) -> Ended:
        # The mail server lives in this loop.
        return await asyncio.to_thread(self.penstock, "process", *words)

    async def send(self, subject: str = "Flour") -> str:
        """The id of the process that sends a message."""
        url = self.works.database.runtime_url
        tenants = await TenantPool.open(url, application_name="test", size=1)
        try:
            async with tenants.transaction(self.works.tenant_id) as conn:
                root = await conn.fetchval(
                    "select k.send_email_task_id from comms.kickoff_send_email("
                    "comms.create_email_message(array['ann@example.org'], $1, 'The secret recipe.')) k",
                    subject,
                )
        finally:
            await tenants.close()
        return f"comms.send_email/{root}"

    async def over(self) -> None:
        await eventually(lambda: self.works.value(OVER), what="every process is over")


@asynccontextmanager
async def office(database: Database, folder: Path, penstock: CommandLine) -> AsyncIterator[Office]:
    async with database.connect("admin") as admin:
        await admin.execute(SHORT_BACKOFF)
    async with (
        mail_server() as server,
        works_on(database, folder, poll_interval=0.2, **server.settings) as works,
    ):
        yield Office(works, server, penstock)


def events(shown: Any) -> list[tuple[str, int | None]]:
    return [(moment["event"], moment["attempt"]) for moment in shown["timeline"]]


async def test_a_process_is_shown_as_one_timeline(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    async with office(database, tmp_path, penstock) as here:
        here.server.answer("DATA", "451 try later", times=2)
        async with here.works.working():
            id_ = await here.send()
            await here.over()
        shown = (await here("show", id_, "--json")).json
        assert events(shown) == [
            ("created", None),
            ("attempt_started", 1),
            ("attempt_failed", 1),
            ("attempt_started", 2),
            ("attempt_failed", 2),
            ("attempt_started", 3),
            ("attempt_succeeded", 3),
        ]
        times = [datetime.fromisoformat(moment["at"]) for moment in shown["timeline"]]
        assert times == sorted(times)
        assert (shown["state"], shown["next_check_at"]) == ("succeeded", None)
        assert {frozenset(attempt) for attempt in shown["attempts"]} == {frozenset(keys(PROCESS_ATTEMPT))}
        assert [attempt["task_state"] for attempt in shown["attempts"]] == ["completed"] * 3

        told = (await here("show", id_.removeprefix("comms."))).out
        assert "state     succeeded\n" in told
        assert "attempts  3, 2 failed\n" in told
        assert "451 try later" in told
        assert f"task {shown['attempts'][2]['task_id']} is completed\n" in told
        assert "recipe" not in told
        assert "Flour" not in told


async def test_an_open_process_shows_its_next_check(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    async with office(database, tmp_path, penstock) as here:
        id_ = await here.send()
        shown = (await here("show", id_, "--json")).json
        assert events(shown) == [("created", None), ("next_check", None)]
        assert (shown["state"], shown["supervisor_task_state"]) == ("open", "ready")
        assert shown["late_seconds"] > 0
        assert f"task {shown['supervisor_task_id']} is ready, " in (await here("show", id_)).out
        await here.works.value("update internal.open_root set task_id = 999999")
        assert "no check is scheduled" in (await here("show", id_)).out


async def test_a_stuck_process_says_why_and_is_started_again(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    async with office(database, tmp_path, penstock) as here:
        here.server.refused["ann@example.org"] = "550 nobody of that name"
        async with here.works.working():
            id_ = await here.send()
            await here.over()
            stuck = (await here("show", id_)).out
            assert "failed: its last failure is permanent" in stuck
            assert "550 nobody of that name" in stuck
            assert " (permanent)\n" in stuck
            assert stuck.endswith(f"penstock process retry {id_}\n")
            doctor = (await asyncio.to_thread(penstock, "doctor", "--json")).json["checks"]
            (found,) = [check for check in doctor if check["check"] == "processes"]
            assert found["status"] == "warn"
            assert f"1 of comms.send_email failed in the last day, most recently {id_}" in found["message"]

            here.server.refused.clear()
            assert (await here("retry", id_, "--json")).json == {"id": id_, "result": "restarted"}
            await here.over()
        shown = (await here("show", id_, "--json")).json
        assert [name for name, _ in events(shown)] == [
            *("created", "attempt_started", "attempt_failed", "restarted"),
            *("attempt_started", "attempt_succeeded"),
        ]
        ended = await here("retry", id_, "--json")
        assert (ended.code, ended.error["code"], ended.error["field"]) == (1, "invalid_move", "id")
        assert "has succeeded" in ended.error["message"]
        assert len(here.server.received) == 1


async def test_a_list_shows_states_attempts_and_errors(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    async with office(database, tmp_path, penstock) as here:
        here.server.answer("MAIL", "550 go \x1b[31maway", times=1)
        async with here.works.working():
            failed = await here.send()
            await here.over()
            sent = await here.send()
            await here.over()
        waits = await here.send()
        lines = (await here("list")).out.splitlines()
        assert lines[0].split() == ["id", "tenant", "state", "attempts", "next_check_at", "error_message"]
        assert [line.split()[:4] for line in lines[1:]] == [
            [waits, "acme", "open", "0/0"],
            [sent, "acme", "succeeded", "0/1"],
            [failed, "acme", "failed", "1/1"],
        ]
        assert "\x1b" not in "".join(lines)
        for words, expected in (
            (("--state", "failed"), [failed]),
            (("--process", "send_email", "--limit", "1"), [waits]),
            (("--tenant", "acme", "--state", "open"), [waits]),
            (("--process", "comms.send_sms"), []),
        ):
            rows = (await here("list", *words, "--json")).json["processes"]
            assert [row["id"] for row in rows] == expected


@pytest.mark.parametrize(
    ("words", "code", "kind", "remedy"),
    [
        (["show", "comms.send_email/99"], 1, "not_found", "penstock process list --process comms.send_email"),
        (["show", "send_pigeon/1"], 1, "not_found", "comms.send_email"),
        (["retry", "send_email/99"], 1, "not_found", "penstock process list"),
        (["list", "--process", "send_pigeon"], 1, "not_found", "comms.send_email"),
        (["list", "--tenant", "nobody"], 1, "not_found", "penstock tenant create"),
        (["list", "--state", "stuck"], 2, "usage", "--help"),
        (["show", "12"], 2, "usage", "--help"),
        (["show", "comms.send_email/first"], 2, "usage", "--help"),
        (["show", "comms.send_email/0"], 2, "usage", "--help"),
        (["retry", "comms.send_email/99999999999999999999"], 2, "usage", "--help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_unknown_process_is_refused_with_a_remedy(
    penstock: CommandLine, words: list[str], code: int, kind: str, remedy: str
) -> None:
    ended = penstock("process", *words, "--json")
    assert (ended.code, ended.out, ended.error["code"]) == (code, "", kind)
    assert remedy in ended.error["remedy"]
