"""Sends text messages through a gateway that speaks Twilio's Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ConfigDict, Field

from penstock.channels.channel import ProviderFailed, read_request
from penstock.net.errors import AddressRefused, AnswerRefused

if TYPE_CHECKING:
    from penstock.channels.ports import Run
    from penstock.settings import Settings

PROVIDER: Final = "sms"
LATER: Final = "Penstock tries again by itself; if it goes on, check the gateway and PENSTOCK_SMS_*"
NEVER: Final = "Read what the gateway says, correct the message or PENSTOCK_SMS_*, and send it anew"
_COME_BACK: Final = frozenset({408, 425, 429})


class SmsRequest(BaseModel):
    """The before handler's payload."""

    model_config = ConfigDict(frozen=True)

    from_number: str | None = None
    to_number: str = Field(min_length=1)
    body: str = Field(min_length=1)


class SmsChannel:
    """Too many requests, an ailing gateway and silence may pass; any other refusal is final."""

    def __init__(self, settings: Settings, http: httpx2.AsyncClient) -> None:
        self._settings = settings
        self._http = http

    async def call(self, request: Mapping[str, Any], run: Run) -> Mapping[str, Any]:
        account, secret = self._login()
        wanted = read_request(PROVIDER, SmsRequest, request)
        sender = wanted.from_number or self._settings.sms_from
        if not sender:
            raise _unset("the message names no sender", "PENSTOCK_SMS_FROM")
        by = "MessagingServiceSid" if sender.startswith("MG") else "From"
        base = self._settings.sms_base_url.rstrip("/")
        try:
            response = await self._http.post(
                f"{base}/2010-04-01/Accounts/{quote(account, safe='')}/Messages.json",
                data={"To": wanted.to_number, by: sender, "Body": wanted.body},
                auth=(account, secret),
                follow_redirects=False,
            )
        except (httpx2.HTTPError, AddressRefused, AnswerRefused) as error:
            raise _failed(f"{type(error).__name__}: {error}", retriable=True) from error
        return _read(response)

    def _login(self) -> tuple[str, str]:
        account, secret = self._settings.sms_account_sid, self._settings.sms_auth_token
        if account is None:
            raise _unset("no gateway account is set", "PENSTOCK_SMS_ACCOUNT_SID")
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
    # Whoever runs it may set the variable while the process still tries.
    return ProviderFailed(PROVIDER, reason, f"Set {variable}", retriable=True)
