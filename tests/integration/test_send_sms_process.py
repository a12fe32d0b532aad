"""What is particular to text messages: numbers, senders, and what the gateway answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidArgument
from penstock.simulators import Fault, busy
from tests.integration.messaging import Facts, Gateway, messaging
from tests.plugins.database import Database
from tests.plugins.workers import eventually


async def test_a_text_message_arrives_as_it_was_written(database: Database, tmp_path: Path) -> None:
    async with messaging("sms", database, tmp_path) as post, post.works.working():
        messages, tenant_id = post.works.engine.messages, post.works.tenant_id
        for sender in (None, "+4930999999", "MG" + "0" * 32):
            sent = await messages.send_sms(tenant_id, to="+4930123456", text="Wasser läuft 💧", sender=sender)
            assert (await messages.wait(tenant_id, sent.process_id, 15)).state == "succeeded"
        assert isinstance(post.provider, Gateway)
        taken = post.provider.simulator.messages
        assert {(each.to, each.body) for each in taken} == {("+4930123456", "Wasser läuft 💧")}
        assert [each.sender for each in taken] == ["+15005550006", "+4930999999", "MG" + "0" * 32]
        kept = await post.admin.fetch(
            "select worker_payload ->> 'sid' from comms.send_sms_attempt_succeeded order by created_at"
        )
        assert [row[0] for row in kept] == [each.sid for each in taken]


async def test_a_gateway_that_is_busy_cut_off_or_garbled_is_tried_again(
    database: Database, tmp_path: Path
) -> None:
    async with messaging("sms", database, tmp_path) as post:
        assert isinstance(post.provider, Gateway)
        for fault in (busy("3"), Fault("disconnect"), Fault("not_json")):
            post.provider.simulator.faults.add(fault)
        async with post.works.working():
            sent = await post.send()
            await post.over()
        assert await post.facts(sent) == Facts(attempts=4, failed=3, succeeded=1, retriable=(True,) * 3)
        assert post.provider.taken == ["The sluice is open"]


async def test_a_gateway_that_refuses_the_login_is_not_tried_again(
    database: Database, tmp_path: Path
) -> None:
    async with messaging("sms", database, tmp_path, sms_auth_token="wrong") as post, post.works.working():
        sent = await post.send()
        await post.over()
        assert await post.facts(sent) == Facts(attempts=1, failed=1, succeeded=0, retriable=(False,))
        assert "20003" in await post.error(sent)


async def test_without_an_account_a_text_message_waits_for_one_to_be_set(
    database: Database, tmp_path: Path
) -> None:
    async with messaging("sms", database, tmp_path, sms_account_sid=None) as post, post.works.working():
        await post.back_off("1 hour")
        sent = await post.send()
        await eventually(lambda: post.error(sent))
        assert "PENSTOCK_SMS_ACCOUNT_SID" in await post.error(sent)
        assert await post.state(sent) == "open"


async def test_a_text_message_for_later_is_not_sent_before_its_time(
    database: Database, tmp_path: Path
) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=2)
    async with messaging("sms", database, tmp_path) as post, post.works.working():
        messages, tenant_id = post.works.engine.messages, post.works.tenant_id
        sent = await messages.send_sms(tenant_id, to="+4930123456", text="Later", at=soon)
        await post.send("Now")
        assert (await messages.wait(tenant_id, sent.process_id, 15)).state == "succeeded"
        assert post.provider.taken == ["Now", "Later"]
        at = await post.admin.fetchval("select max(created_at) from comms.send_sms_attempt_succeeded")
        assert at >= soon


async def test_an_invalid_text_message_is_refused_with_its_field_and_leaves_nothing(
    database: Database, tmp_path: Path
) -> None:
    good = {"to": "+4930123456", "text": "Open"}
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("to_number", {"to": ""}),
        ("to_number", {"to": None}),
        ("to_number", {"to": "030 123456"}),
        ("to_number", {"to": "+0123456"}),
        ("to_number", {"to": "+49" + "1" * 30}),
        ("to", {"to": "+49\x00"}),
        ("body", {"text": ""}),
        ("body", {"text": "x" * 1601}),
        ("text", {"text": "\ud800"}),
        ("at", {"at": datetime(2030, 1, 1)}),  # noqa: DTZ001  # no zone is what is wrong
    ]
    async with messaging("sms", database, tmp_path) as post:
        for field, options in wrong:
            with pytest.raises(InvalidArgument) as refused:
                await post.works.engine.messages.send_sms(post.works.tenant_id, **{**good, **options})
            assert refused.value.field == field, options
            assert refused.value.remedy, options
        for table in ("sms_message", "send_sms_task"):
            assert await post.works.value(f"select count(*) from comms.{table}") == 0, table
        assert await post.is_over()
