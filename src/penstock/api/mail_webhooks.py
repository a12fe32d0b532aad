"""POST /webhooks/outlook and /webhooks/gmail: a genuine notification wakes a sync, and does nothing else."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from penstock.api.bodies import announced, read_whole
from penstock.api.identity import engine_of
from penstock.api.notification_counts import NotificationCounts
from penstock.api.problem import HttpRefused
from penstock.api.rate_limit import Allowance, RateLimit, refuse_over
from penstock.api.secret_guesses import network_of
from penstock.blobs.spool import SpoolBudget
from penstock.errors import TooLarge
from penstock.observe import get_logger
from penstock.sources.mail.notifications import MOST_BYTES, NotReadable, is_plain, read_gmail, read_outlook
from penstock.sources.mail.push import GMAIL, OUTLOOK, why_off
from penstock.webhooks.public_keys import KeysUnavailable

log = get_logger(__name__)

router = APIRouter(tags=["Webhooks"])

T = TypeVar("T")
LONGEST_TOKEN: Final = 2_000
GMAIL_BYTES: Final = 65_536
_JSON_BODY: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
}
_ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The validation token.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    202: {"description": "Accepted."},
}

ValidationToken = Annotated[
    str | None, Query(alias="validationToken", description="Microsoft's handshake: it is sent back as text.")
]


@router.post(
    "/webhooks/outlook",
    status_code=202,
    response_class=Response,
    responses=_ACCEPTED,
    openapi_extra=_JSON_BODY,
    operation_id="receiveOutlookNotifications",
)
async def outlook(request: Request, validation_token: ValidationToken = None) -> Response:
    """Receive notifications of Microsoft Graph; each must carry the client state of its subscription.

    What is not genuine is rejected with one and the same response, and nothing is written.
    """
    engine = engine_of(request)
    if why_off(engine.settings, OUTLOOK) is not None:
        raise _refused(request, OUTLOOK)
    sender = _limited_sender(request, OUTLOOK)
    if validation_token is not None:
        if not is_plain(validation_token, LONGEST_TOKEN):
            raise _refused(request, OUTLOOK)
        _count(request, OUTLOOK, "validated")
        return PlainTextResponse(validation_token)
    try:
        notifications = await _read(request, sender, MOST_BYTES, read_outlook)
    except (NotReadable, TooLarge):
        raise _refused(request, OUTLOOK) from None
    outcomes = await engine.wake_ups.outlook(notifications)
    if all(outcome == "forged" for outcome in outcomes):
        raise _refused(request, OUTLOOK)
    for outcome in outcomes:
        _count(request, OUTLOOK, "refused" if outcome == "forged" else outcome)
    return Response(status_code=202)


@router.post(
    "/webhooks/gmail",
    status_code=204,
    response_class=Response,
    openapi_extra=_JSON_BODY,
    operation_id="receiveGmailNotification",
)
async def gmail(request: Request) -> Response:
    """Receive a notification of Gmail through Pub/Sub; Google's token in Authorization is verified.

    What is not genuine is rejected with one and the same response, and nothing is written. A genuine message
    is accepted even if it names a mailbox that is not connected, or Pub/Sub would send it again for days.
    """
    engine = engine_of(request)
    if why_off(engine.settings, GMAIL) is not None:
        raise _refused(request, GMAIL)
    sender = _limited_sender(request, GMAIL)
    try:
        genuine = await engine.google_push.is_genuine(request.headers.get("authorization", ""))
    except KeysUnavailable as unavailable:
        raise HttpRefused(
            "unavailable",
            "The sender cannot be verified now",
            unavailable.remedy,
            headers={"Retry-After": "60"},
        ) from None
    if not genuine:
        raise _refused(request, GMAIL)
    try:
        address = await _read(request, sender, GMAIL_BYTES, read_gmail)
    except (NotReadable, TooLarge):
        _count(request, GMAIL, "unreadable")
        return Response(status_code=204)
    for outcome in await engine.wake_ups.gmail(address):
        _count(request, GMAIL, outcome)
    return Response(status_code=204)


def _limited_sender(request: Request, provider: str) -> Hashable:
    """Who sends this, as far as anybody knows. Raises a 429 after too many refused requests of its address.

    Genuine ones do not count: behind a proxy all senders have the proxy's address.
    """
    sender, limits, most = _counted_as(request, provider)
    refuse_over(Allowance(most, 0, 0.0, limits.wait(sender, most)), "PENSTOCK_REQUESTS_PER_MINUTE")
    return sender


def _counted_as(request: Request, provider: str) -> tuple[Hashable, RateLimit, int]:
    limits: RateLimit = request.app.state.rate_limit
    sender = (provider, network_of(None if request.client is None else request.client.host))
    return sender, limits, engine_of(request).settings.requests_per_minute


async def _read(request: Request, sender: Hashable, limit: int, parse: Callable[[bytes], T]) -> T:
    """Anybody may send a body, so that it counts among those that are not signed. Raises SpoolFull."""
    budget: SpoolBudget = request.app.state.unsigned_budget
    with budget.share(sender, min(announced(request), limit)) as take:
        return parse(await read_whole(request, limit, what="body", take=take))


def _refused(request: Request, provider: str) -> HttpRefused:
    """One response for everything that is not genuine: it must not say which part was wrong."""
    _count(request, provider, "refused")
    sender, limits, most = _counted_as(request, provider)
    limits.take(sender, most)
    return HttpRefused("not-genuine", "The notification is rejected")


def _count(request: Request, provider: str, outcome: str) -> None:
    counts: NotificationCounts = request.app.state.notification_counts
    counts.received(provider, outcome)
    if outcome in ("refused", "stale", "unknown", "unreadable"):
        log.throttled("notification_ignored", key=f"{provider} {outcome}", provider=provider, outcome=outcome)
