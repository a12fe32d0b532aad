"""Gmail's history: what changed since a history id, which may be too old."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.google import paging
from penstock.simulators.providers.google.errors import bad_page_token, error
from penstock.simulators.providers.world.mail import History, Mailbox

_TYPES: Final = {
    "messageAdded": "messagesAdded",
    "messageDeleted": "messagesDeleted",
    "labelAdded": "labelsAdded",
    "labelRemoved": "labelsRemoved",
}


def history_page(mailbox: Mailbox, call: Call) -> Response:
    """Entries after startHistoryId, oldest first; a page may have none. 404 if the start is too old."""
    start, token = call.query.get("startHistoryId", ""), call.query.get("pageToken", "0")
    if not start.isdigit():
        return error(400, "Invalid startHistoryId", "invalidArgument")
    if int(start) < mailbox.oldest_history:
        return error(404, "Requested entity was not found.", "notFound")
    if not token.isdigit():
        return bad_page_token()
    first, most = int(token), paging.size(call.query.get("maxResults"), 100, 500)
    begun = bisect_right(mailbox.history, int(start), key=lambda each: each.id)
    left = len(mailbox.history) - begun
    kinds = {_TYPES.get(each, each) for each in call.request.query_params.getlist("historyTypes")}
    label = call.query.get("labelId")
    page = [
        entry
        for entry in mailbox.history[begun + first : begun + first + most]
        if (not kinds or entry.kind in kinds) and (not label or label in _labels(mailbox, entry))
    ]
    body: dict[str, Any] = {"historyId": str(mailbox.history_id)}
    if page:
        body["history"] = [_entry(mailbox, entry) for entry in page]
    if first + most < left:
        body["nextPageToken"] = str(first + most)
    return JSONResponse(body)


def _labels(mailbox: Mailbox, entry: History) -> list[str]:
    message = mailbox.messages.get(entry.message_id)
    return list(message.labels) if message else list(entry.labels)


def _entry(mailbox: Mailbox, entry: History) -> dict[str, Any]:
    message: dict[str, Any] = {"id": entry.message_id, "threadId": entry.thread_id}
    detail: dict[str, Any] = {"message": message | {"labelIds": _labels(mailbox, entry)}}
    if entry.labels:
        detail["labelIds"] = list(entry.labels)
    return {"id": str(entry.id), "messages": [message], entry.kind: [detail]}
