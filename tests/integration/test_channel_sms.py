"""Text messages through a gateway in Twilio's wire format."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from penstock.net.outbound import open_client
from penstock.processes.channels.channel import ProviderFailed
from penstock.processes.channels.sms import SmsChannel
from penstock.settings import Settings
from penstock.simulators import Fault, SmsGatewaySimulator, busy, serving
from penstock.simulators.sms_gateway import ACCOUNT, TOKEN
from tests.plugins.runs import NoRun

RUN = NoRun()
MESSAGE = {"from_number": None, "to_number": "+491701234567", "body": "Das Tor ist auf ✓"}


@asynccontextmanager
async def channel_to(
    address: str, *, allow_private: bool = True, seconds: float = 5.0, **settings: Any
) -> AsyncIterator[SmsChannel]:
    chosen = {
        "sms_base_url": address,
        "sms_account_sid": ACCOUNT,
        "sms_auth_token": TOKEN,
        "sms_from": "+4930123456",
        **settings,
    }
    async with open_client(allow_private=allow_private, total_seconds=seconds) as http:
        yield SmsChannel(Settings(**chosen), http)


@asynccontextmanager
async def gateway(**settings: Any) -> AsyncIterator[tuple[SmsGatewaySimulator, SmsChannel]]:
    simulator = SmsGatewaySimulator()
    async with serving(simulator.app) as address, channel_to(address, **settings) as channel:
        yield simulator, channel


async def failure(channel: SmsChannel, **changes: Any) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as caught:
        await channel.call({**MESSAGE, **changes}, RUN)
    assert TOKEN not in str(caught.value)
    return caught.value


async def test_a_message_goes_out_and_its_sid_comes_back() -> None:
    async with gateway() as (simulator, channel):
        answer = await channel.call(MESSAGE, RUN)
        [sent] = simulator.messages
        assert answer == {"sid": sent.sid, "status": "queued"}
        assert (sent.to, sent.sender, sent.body) == ("+491701234567", "+4930123456", "Das Tor ist auf ✓")


async def test_a_messages_own_sender_takes_precedence_and_a_messaging_service_is_sent_as_such() -> None:
    async with gateway() as (simulator, channel):
        await channel.call({**MESSAGE, "from_number": "+4940999999"}, RUN)
        answer = await channel.call({**MESSAGE, "from_number": "MG" + "1" * 32}, RUN)
        assert [sent.sender for sent in simulator.messages] == ["+4940999999", "MG" + "1" * 32]
        assert answer["status"] == "accepted"


@pytest.mark.parametrize(
    ("fault", "retriable", "said"),
    [
        (busy("7"), True, "429: 20429 slow down (it asks to wait 7)"),
        (Fault("status", 500), True, "500"),
        (Fault("status", 503), True, "503"),
        (Fault("status", 408), True, "408"),
        (Fault("status", 400, message="Bad"), False, "400: 20400 Bad"),
        (Fault("status", 403), False, "403"),
        (Fault("status", 302, {"location": "/elsewhere"}), False, "302"),
        (Fault("disconnect"), True, "RemoteProtocolError"),
        (Fault("not_json"), True, "without the message's sid"),
        (Fault("slow"), True, "ReadTimeout"),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
async def test_each_failure_says_whether_a_retry_may_help(fault: Fault, retriable: bool, said: str) -> None:
    async with gateway(seconds=0.5 if fault.kind == "slow" else 5.0) as (simulator, channel):
        simulator.faults.add(fault)
        error = await failure(channel)
        assert error.retriable is retriable
        assert said in error.reason
        assert simulator.calls == 1, "business retries belong to the supervisor"
        await channel.call(MESSAGE, RUN)
        assert len(simulator.messages) == 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"to_number": "12"}, "21211"), ({"body": "x" * 1_601}, "21617")],
)
async def test_a_message_the_gateway_refuses_fails_for_good_with_its_code(
    changes: dict[str, str], code: str
) -> None:
    async with gateway() as (simulator, channel):
        error = await failure(channel, **changes)
        assert not error.retriable
        assert code in error.reason
        assert simulator.messages == []


async def test_a_wrong_token_and_an_unknown_account_are_final() -> None:
    async with gateway(sms_auth_token="wrong") as (_, channel):
        error = await failure(channel)
        assert (error.retriable, "20003" in error.reason) == (False, True)
    async with gateway(sms_account_sid="AC/../x") as (simulator, channel):
        assert not (await failure(channel)).retriable
        assert simulator.messages == []


@pytest.mark.parametrize("changes", [{"to_number": ""}, {"to_number": None}, {"body": ""}, {"body": 3}])
async def test_an_invalid_request_is_never_sent(changes: dict[str, Any]) -> None:
    async with gateway() as (simulator, channel):
        error = await failure(channel, **changes)
        assert not error.retriable
        assert next(iter(changes)) in error.reason
        assert simulator.calls == 0


@pytest.mark.parametrize("name", ["sms_account_sid", "sms_auth_token", "sms_from"])
async def test_a_missing_setting_is_named_and_may_be_set_in_the_meantime(name: str) -> None:
    async with gateway(**{name: None}) as (simulator, channel):
        error = await failure(channel)
        assert error.retriable
        assert f"PENSTOCK_{name.upper()}" in str(error)
        assert simulator.calls == 0


async def test_private_addresses_are_refused_unless_allowed_and_an_unreachable_gateway_is_retriable() -> None:
    async with gateway(allow_private=False) as (simulator, channel):
        assert "AddressRefused" in (await failure(channel)).reason
        assert simulator.calls == 0
    async with channel_to("http://127.0.0.1:1") as channel:
        assert (await failure(channel)).retriable
