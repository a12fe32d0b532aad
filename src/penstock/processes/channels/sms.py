"""Sends text messages through a gateway with Twilio's Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ConfigDict, Field

from penstock.net.errors import AddressRefused, ResponseRefused
from penstock.processes.channels.channel import ProviderFailed, read_request
from penstock.processes.channels.names import ChannelName

if TYPE_CHECKING:
    from penstock.queue.task_run import TaskRun
    from penstock.settings import Settings

PROVIDER: Final = ChannelName.SMS.value
LATER: Final = "Penstock retries automatically; if this persists, check the gateway and PENSTOCK_SMS_*"
NEVER: Final = "Read the gateway's message, correct the text or PENSTOCK_SMS_*, and send it again"
_COME_BACK: Final = frozenset({408, 425, 429})


class SmsRequest(BaseModel):
    """The before handler's payload."""

    model_config = ConfigDict(frozen=True)

    from_number: str | None = None
    to_number: str = Field(min_length=1)
    body: str = Field(min_length=1)


class SmsChannel:
    """Rate limits, gateway errors and timeouts are retried; any other rejection is final."""

    def __init__(self, settings: Settings, http: httpx2.AsyncClient) -> None:
        self._settings = settings
        self._http = http

    async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
        account, secret = self._login()
        wanted = read_request(PROVIDER, SmsRequest, request)
        sender = wanted.from_number or self._settings.sms_from
        if not sender:
            raise _unset("the message has no sender", "PENSTOCK_SMS_FROM")
        by = "MessagingServiceSid" if sender.startswith("MG") else "From"
        base = self._settings.sms_base_url.rstrip("/")
        try:
            response = await self._http.post(
                f"{base}/2010-04-01/Accounts/{quote(account, safe='')}/Messages.json",
                data={"To": wanted.to_number, by: sender, "Body": wanted.body},
                auth=(account, secret),
                follow_redirects=False,
            )
        except (httpx2.HTTPError, AddressRefused, ResponseRefused) as error:
            raise _failed(f"{type(error).__name__}: {error}", retriable=True) from error
        return _read(response)

    def _login(self) -> tuple[str, str]:
        account, secret = self._settings.sms_account_sid, self._settings.sms_auth_token
        if account is None:
            raise _unset("no gateway account is configured", "PENSTOCK_SMS_ACCOUNT_SID")
        if secret is None:
            raise _unset("the gateway account has no token", "PENSTOCK_SMS_AUTH_TOKEN")
        return account, secret


def _read(response: httpx2.Response) -> Mapping[str, Any]:
    try:
        answer = json.loads(response.content)
    except (ValueError, RecursionError):
        answer = None
    told = answer if isinstance(answer, dict) else {}
    status = response.status_code
    if response.is_success:
        if not isinstance(told.get("sid"), str):
            raise _failed(f"it answered {status} without the message's sid", retriable=True)
        return {"sid": told["sid"], "status": str(told.get("status", ""))}
    reason = f"it answered {status}"
    if "code" in told or "message" in told:
        reason += f": {told.get('code', 'no code')} {told.get('message', '')}".rstrip()
    if wait := response.headers.get("retry-after"):
        reason += f" (it asks to wait {wait})"
    raise _failed(reason, retriable=status >= 500 or status in _COME_BACK)


def _failed(reason: str, *, retriable: bool) -> ProviderFailed:
    return ProviderFailed(PROVIDER, reason, LATER if retriable else NEVER, retriable=retriable)


def _unset(reason: str, variable: str) -> ProviderFailed:
    # An operator may set the variable while the process still retries.
    return ProviderFailed(PROVIDER, reason, f"Set {variable}", retriable=True)
