"""Gmail's REST API: profile, threads, messages, attachments, labels and history."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.google import gmail_messages, paging
from penstock.simulators.providers.google.drive_rest import answered
from penstock.simulators.providers.google.errors import GoogleRefused, error
from penstock.simulators.providers.google.gmail_history import history_page
from penstock.simulators.providers.google.gmail_query import parse_query, with_labels
from penstock.simulators.providers.world.mail import Mailbox, Message

if TYPE_CHECKING:
    from penstock.simulators.providers.google.gmail_provider import Gmail

_AUTH: Final = "https://www.googleapis.com/auth/"
READ: Final = frozenset({"https://mail.google.com/", f"{_AUTH}gmail.readonly", f"{_AUTH}gmail.modify"})
LOOK: Final = READ | {f"{_AUTH}gmail.metadata"}
CERTS: Final = "/oauth2/v3/certs"
LABELS: Final = ("INBOX", "SENT", "TRASH", "SPAM", "UNREAD", "CATEGORY_PROMOTIONS")


def endpoints(gmail: Gmail) -> list[Endpoint]:
    rest = GmailRest(gmail)
    user = "/gmail/v1/users/{user}"
    return [
        Endpoint("GET", f"{user}/profile", "users.getProfile", answered(rest.profile), scopes=LOOK),
        Endpoint("GET", f"{user}/labels", "labels.list", answered(rest.labels), scopes=LOOK),
        Endpoint("GET", f"{user}/threads", "threads.list", answered(rest.threads), scopes=LOOK),
        Endpoint("GET", user + "/threads/{id}", "threads.get", answered(rest.thread), scopes=LOOK),
        Endpoint("GET", f"{user}/messages", "messages.list", answered(rest.messages), scopes=LOOK),
        Endpoint("GET", user + "/messages/{id}", "messages.get", answered(rest.message), scopes=LOOK),
        Endpoint(
            "GET",
            user + "/messages/{message}/attachments/{id}",
            "messages.attachments.get",
            answered(rest.attachment),
            scopes=READ,
        ),
        Endpoint("GET", f"{user}/history", "history.list", answered(rest.history), scopes=LOOK),
        Endpoint("POST", f"{user}/watch", "users.watch", answered(rest.watch), scopes=LOOK),
        Endpoint("POST", f"{user}/stop", "users.stop", answered(rest.stop), scopes=LOOK),
        Endpoint("GET", CERTS, "certs", rest.certificates, "identity", public=True),
    ]


def not_found() -> GoogleRefused:
    return GoogleRefused(error(404, "Requested entity was not found.", "notFound"))


def listed_threads(
    gmail: Gmail, query: dict[str, Any], labels: tuple[str, ...] = (), mailbox: Mailbox | None = None
) -> tuple[list[str], str | None, int]:
    """Thread ids, newest first, the next page token and the number of matches."""
    mailbox, now = mailbox or gmail.world.gmail, gmail.world.clock.now()
    binding = {"q": query.get("q"), "labels": labels, "hidden": query.get("includeSpamTrash")}
    offset = paging.read_token(query.get("pageToken"), binding, now)
    most = paging.size(query.get("maxResults"), 100, 500)
    hidden = str(query.get("includeSpamTrash")).lower() == "true"
    # A client asks for page after page of one search: its result is kept until the mailbox changes.
    key = f"{mailbox.address}/{mailbox.revision}/{now:%Y%m%d%H%M}/{sorted(binding.items())}"
    matching = gmail.found_threads.get(key)
    if matching is None:
        test, labelled = parse_query(query.get("q"), now, hidden=hidden), with_labels(labels)
        matching = [
            thread
            for thread in mailbox.newest_first()
            if any(test(each) and labelled(each) for each in mailbox.of(thread))
        ]
        gmail.found_threads = {key: matching}
    more = offset + most < len(matching)
    token = paging.make_token(offset + most, binding, now) if more else None
    return matching[offset : offset + most], token, len(matching)


def rest_thread(mailbox: Mailbox, thread_id: str, form: str, only: tuple[str, ...] = ()) -> dict[str, Any]:
    messages = mailbox.of(thread_id)
    if not messages:
        raise not_found()
    return {
        "id": thread_id,
        "snippet": messages[-1].snippet,
        "historyId": str(max(each.history_id for each in messages)),
        "messages": [gmail_messages.rest_message(each, form, only) for each in messages],
    }


def thread_line(mailbox: Mailbox, thread_id: str) -> dict[str, str]:
    messages = mailbox.of(thread_id)
    newest = str(max(each.history_id for each in messages))
    return {"id": thread_id, "snippet": messages[-1].snippet, "historyId": newest}


class GmailRest:
    """The handlers."""

    def __init__(self, gmail: Gmail) -> None:
        self._gmail = gmail

    def _mailbox(self, call: Call) -> Mailbox:
        """The mailbox of the account that the token belongs to."""
        assert call.grant is not None, "the endpoint is not public"
        return self._gmail.world.gmail_of(call.grant.account)

    def profile(self, call: Call) -> Response:
        mailbox = self._mailbox(call)
        return JSONResponse(
            {
                "emailAddress": mailbox.address,
                "messagesTotal": len(mailbox.messages),
                "threadsTotal": len(mailbox.threads),
                "historyId": str(mailbox.history_id),
            }
        )

    def labels(self, call: Call) -> Response:
        return JSONResponse({"labels": [{"id": each, "name": each, "type": "system"} for each in LABELS]})

    def threads(self, call: Call) -> Response:
        labels = tuple(call.request.query_params.getlist("labelIds"))
        mailbox = self._mailbox(call)
        ids, token, total = listed_threads(self._gmail, dict(call.query), labels, mailbox)
        body: dict[str, Any] = {"resultSizeEstimate": min(total, 201)}
        if ids:
            body["threads"] = [thread_line(mailbox, each) for each in ids]
        return JSONResponse(body | ({"nextPageToken": token} if token else {}))

    def thread(self, call: Call) -> Response:
        form, only = _form(call)
        if form == "raw":
            return error(400, "Invalid format", "invalidArgument")
        return JSONResponse(rest_thread(self._mailbox(call), call.path["id"], form, only))

    def messages(self, call: Call) -> Response:
        query, now = call.query, self._gmail.world.clock.now()
        labels = tuple(call.request.query_params.getlist("labelIds"))
        binding = {"q": query.get("q"), "labels": labels}
        offset = paging.read_token(query.get("pageToken"), binding, now)
        most = paging.size(query.get("maxResults"), 100, 500)
        mailbox = self._mailbox(call)
        found = self._found_messages(mailbox, now, query.get("q"), labels)
        page = [mailbox.messages[each] for each in found[offset : offset + most]]
        body: dict[str, Any] = {"resultSizeEstimate": min(len(found), 201)}
        if page:
            body["messages"] = [{"id": each.id, "threadId": each.thread_id} for each in page]
        if offset + most < len(found):
            body["nextPageToken"] = paging.make_token(offset + most, binding, now)
        return JSONResponse(body)

    def message(self, call: Call) -> Response:
        form, only = _form(call)
        return JSONResponse(gmail_messages.rest_message(self._found(call, "id"), form, only))

    def attachment(self, call: Call) -> Response:
        file = gmail_messages.attachment(self._found(call, "message"), call.path["id"])
        if file is None:
            raise not_found()
        return JSONResponse({"size": len(file.content), "data": gmail_messages.encoded(file.content)})

    def history(self, call: Call) -> Response:
        return history_page(self._mailbox(call), call)

    def watch(self, call: Call) -> Response:
        return self._gmail.watches.watch(call, self._mailbox(call))

    def stop(self, call: Call) -> Response:
        return self._gmail.watches.stop(self._mailbox(call))

    def certificates(self, call: Call) -> Response:
        """The keys that pushes are signed with."""
        keys = self._gmail.pubsub.signer.certificates()
        return JSONResponse(keys, headers={"cache-control": "public, max-age=20"})

    def _found_messages(
        self, mailbox: Mailbox, now: datetime, words: str | None, labels: tuple[str, ...]
    ) -> list[str]:
        """Ids of the mails that match, the newest first, kept until the mailbox changes."""
        key = f"{mailbox.address}/{mailbox.revision}/{now:%Y%m%d%H%M}/{words}/{labels}"
        found = self._gmail.found_messages.get(key)
        if found is None:
            test, labelled = parse_query(words, now), with_labels(labels)
            matching = [each for each in mailbox.messages.values() if test(each) and labelled(each)]
            matching.sort(key=lambda each: (each.date, each.id), reverse=True)
            found = [each.id for each in matching]
            self._gmail.found_messages = {key: found}
        return found

    def _found(self, call: Call, name: str) -> Message:
        message = self._mailbox(call).messages.get(call.path[name])
        if message is None:
            raise not_found()
        return message


def _form(call: Call) -> tuple[str, tuple[str, ...]]:
    only = tuple(call.request.query_params.getlist("metadataHeaders"))
    return call.query.get("format", "full").lower(), only
