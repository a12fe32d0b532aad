"""A simulated gateway for text messages that speaks Twilio's Messages API."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from penstock.simulators.faults import Faults, response_for

if TYPE_CHECKING:
    from starlette.requests import Request

ACCOUNT: Final = "AC" + "0" * 32
TOKEN: Final = "simulated-token"  # noqa: S105  # of nobody's account
LONGEST_BODY: Final = 1_600
_NUMBER: Final = re.compile(r"^\+[1-9]\d{6,14}$")
_CODES: Final = {429: 20429, 500: 20500, 503: 20503}


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One received message; `sender` is a number or a messaging service (MG…)."""

    sid: str
    to: str
    sender: str
    body: str


class SmsGatewaySimulator:
    """Accepts and keeps messages and fails on demand; `sms_base_url` is its URL."""

    def __init__(self, *, account: str = ACCOUNT, token: str = TOKEN) -> None:
        self.account = account
        self.token = token
        self.faults = Faults()
        self.calls = 0
        """Received requests, including failed ones."""
        self.messages: list[SentMessage] = []
        self.app = Starlette(
            routes=[Route("/2010-04-01/Accounts/{account}/Messages.json", self._create, methods=["POST"])]
        )

    async def _create(self, request: Request) -> Response:
        self.calls += 1
        if (fault := self.faults.take()) is not None:
            if fault.kind == "status":
                code = _CODES.get(fault.status, 20000 + fault.status)
                return _refusal(fault.status, code, fault.message, fault.headers)
            if (answer := await response_for(fault, request)) is not None:
                return answer
        expected = base64.b64encode(f"{self.account}:{self.token}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {expected}":
            return _refusal(401, 20003, "Authenticate")
        if request.path_params["account"] != self.account:
            return _refusal(404, 20404, f"The requested resource {request.url.path} was not found")
        async with request.form() as form:
            given = {name: value for name, value in form.items() if isinstance(value, str)}
        return self._take(given)

    def _take(self, given: Mapping[str, str]) -> Response:
        to, body = given.get("To", ""), given.get("Body", "")
        sender = given.get("From") or given.get("MessagingServiceSid", "")
        if not to:
            return _refusal(400, 21604, "A 'To' phone number is required.")
        if not sender:
            return _refusal(400, 21603, "A 'From' phone number is required.")
        if not body:
            return _refusal(400, 21602, "Message body is required.")
        if not _NUMBER.match(to):
            return _refusal(400, 21211, f"Invalid 'To' Phone Number: {to}")
        if "MessagingServiceSid" in given and not sender.startswith("MG"):
            return _refusal(400, 21701, "The Messaging Service does not exist.")
        if len(body) > LONGEST_BODY:
            return _refusal(400, 21617, "The concatenated message body exceeds the 1600 character limit.")
        sent = SentMessage(f"SM{secrets.token_hex(16)}", to, sender, body)
        self.messages.append(sent)
        return JSONResponse(self._resource(sent), 201)

    def _resource(self, sent: SentMessage) -> dict[str, object]:
        by_service = sent.sender.startswith("MG")
        return {
            "account_sid": self.account,
            "api_version": "2010-04-01",
            "body": sent.body,
            "date_created": format_datetime(datetime.now(UTC)),
            "direction": "outbound-api",
            "error_code": None,
            "error_message": None,
            "from": None if by_service else sent.sender,
            "messaging_service_sid": sent.sender if by_service else None,
            "num_segments": "0" if by_service else "1",
            "sid": sent.sid,
            "status": "accepted" if by_service else "queued",
            "to": sent.to,
            "uri": f"/2010-04-01/Accounts/{self.account}/Messages/{sent.sid}.json",
        }


def _refusal(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    body = {
        "code": code,
        "message": message,
        "more_info": f"https://www.twilio.com/docs/errors/{code}",
        "status": status,
    }
    return JSONResponse(body, status, headers=headers)
