"""Graph's mail over REST: folders, messages, their MIME and their attachments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call, Endpoint
from penstock.simulators.providers.microsoft import attachments, errors, odata, shapes
from penstock.simulators.providers.microsoft.errors import Handler, answered
from penstock.simulators.providers.microsoft.shapes import View
from penstock.simulators.providers.world.outlook import StoredFolder, StoredMail, StoredMailbox

if TYPE_CHECKING:
    from penstock.simulators.providers.microsoft.provider import Outlook

MAIL: Final = frozenset({"Mail.Read", "Mail.ReadWrite"})
SHARED: Final = frozenset({"Mail.Read.Shared", "Mail.ReadWrite.Shared"})
_IDS: Final = ("AAMk", "AAkA")
_FOLDERS: Final = ("AQMk", "AAMk")


def view_of(call: Call) -> View:
    wanted = odata.of_call(call)
    beta = "/beta/" in call.request.scope["path"]
    return View(wanted.immutable_ids, wanted.text_body, beta)


class MailRest:
    """The handlers, for the user's own mailbox and for shared ones."""

    def __init__(self, outlook: Outlook) -> None:
        self._outlook = outlook

    def endpoints(self) -> list[Endpoint]:
        operations: Sequence[tuple[str, str, Handler]] = (
            ("/mailFolders", "mailFolders.list", self.folders),
            ("/mailFolders/{folder}", "mailFolders.get", self.folder),
            ("/mailFolders/{folder}/childFolders", "mailFolders.children", self.children),
            ("/mailFolders/{folder}/messages/delta", "messages.delta", self.delta),
            ("/mailFolders/{folder}/messages", "messages.list", self.messages),
            ("/mailFolders/{folder}/messages/{id}", "messages.get", self.message),
            ("/messages/delta", "messages.delta", self.no_delta),
            ("/messages", "messages.list", self.messages),
            ("/messages/{id}", "messages.get", self.message),
            ("/messages/{id}/$value", "messages.mime", self.mime),
            ("/messages/{id}/attachments", "attachments.list", self.attachments),
            ("/messages/{id}/attachments/{attachment}", "attachments.get", self.attachment),
            ("/messages/{id}/attachments/{attachment}/$value", "attachments.content", self.content),
        )
        return [
            Endpoint("GET", prefix + path, operation, answered(handler), scopes=scopes)
            for prefix, scopes in (("/v1.0/me", MAIL), ("/v1.0/users/{user}", MAIL | SHARED))
            for path, operation, handler in operations
        ]

    def mailbox(self, call: Call) -> StoredMailbox:
        """The mailbox in the path, if the user may read it."""
        assert call.grant is not None, "the endpoint is not public"
        return self._outlook.mailbox_for(call.grant, call.path.get("user"))

    def folders(self, call: Call) -> Response:
        mailbox = self.mailbox(call)
        return self._listed(call, [each for each in mailbox.folders.values() if each.parent is None])

    def children(self, call: Call) -> Response:
        mailbox, parent = self.mailbox(call), self._folder(call)
        return self._listed(call, [each for each in mailbox.folders.values() if each.parent == parent.id])

    def folder(self, call: Call) -> Response:
        return JSONResponse(_folder(self._folder(call)))

    def delta(self, call: Call) -> Response:
        folder = self._folder(call)
        root = f"{_root(call)}/mailFolders('{quote(folder.id)}')/messages/delta"
        return self._outlook.deltas.page(call, folder, view_of(call), root)

    def no_delta(self, call: Call) -> Response:
        self.mailbox(call)
        said = "Change tracking is not supported against 'microsoft.graph.message'; name a folder."
        return errors.error(400, "ErrorInvalidRequest", said)

    def messages(self, call: Call) -> Response:
        """The newest first, whatever $orderby says; $filter only by the time of receipt."""
        query, mailbox = call.query, self.mailbox(call)
        size = odata.top(query.get("$top"), 10, 1_000)
        skip = int(query["$skip"]) if query.get("$skip", "").isdigit() else 0
        since = odata.received_since(query.get("$filter"))
        select = odata.selected(query.get("$select"), shapes.KNOWN, "message")
        found: list[StoredMail]
        if "folder" in call.path:
            found = list(self._folder(call).before(None))
        else:
            found = [item for folder in mailbox.folders.values() for item in folder.before(None)]
        found = [item for item in found if since is None or item.received >= since]
        found.sort(key=lambda each: (each.received, each.number), reverse=True)
        page, view = found[skip : skip + size], view_of(call)
        body: dict[str, Any] = {
            "@odata.context": f"{_root(call)}/$metadata#messages",
            "value": [shapes.message(item, view, select) for item in page],
        }
        if skip + size < len(found):
            body["@odata.nextLink"] = _next(call, skip + size, size)
        return JSONResponse(body, headers=odata.of_call(call).applied)

    def message(self, call: Call) -> Response:
        item, view = self._item(call), view_of(call)
        shown = shapes.message(item, view, odata.selected(call.query.get("$select"), shapes.KNOWN, "message"))
        expand = call.query.get("$expand")
        options = odata.expansion(expand, "attachments")
        if options is not None:
            select = attachments.selection(odata.inner_select(options))
            shown["attachments"] = attachments.listing(
                item, view, select, expand=attachments.wants_item(options)
            )
        return JSONResponse(shown, headers=odata.of_call(call).applied)

    def mime(self, call: Call) -> Response:
        return Response(self._item(call).sent.as_bytes(), media_type="text/plain")

    def attachments(self, call: Call) -> Response:
        item, select = self._item(call), attachments.selection(call.query.get("$select"))
        expand = attachments.wants_item(call.query.get("$expand"))
        value = attachments.listing(item, view_of(call), select, expand=expand)
        return JSONResponse({"@odata.context": f"{_root(call)}/$metadata#attachments", "value": value})

    def attachment(self, call: Call) -> Response:
        item, view = self._item(call), view_of(call)
        number, one = attachments.found(item, view, call.path["attachment"])
        query = call.query
        return attachments.single(item, view, number, one, query.get("$select"), query.get("$expand"))

    def content(self, call: Call) -> Response:
        _, one = attachments.found(self._item(call), view_of(call), call.path["attachment"])
        return attachments.content(one)

    def _item(self, call: Call) -> StoredMail:
        given = call.path["id"]
        item = self.mailbox(call).items.get(given)
        if item is None:
            if not given.startswith(_IDS):
                raise errors.refuse(400, "ErrorInvalidIdMalformed", "Id is malformed.")
            raise errors.item_not_found()
        return item

    def _folder(self, call: Call) -> StoredFolder:
        mailbox, given = self.mailbox(call), call.path["folder"]
        found = mailbox.folders.get(given) or mailbox.well_known.get(given.lower())
        if found is None:
            if not given.startswith(_FOLDERS):
                raise errors.refuse(400, "ErrorInvalidIdMalformed", "Id is malformed.")
            raise errors.item_not_found()
        return found

    def _listed(self, call: Call, folders: list[StoredFolder]) -> Response:
        size = odata.top(call.query.get("$top"), 10, 1_000)
        skip = int(call.query["$skip"]) if call.query.get("$skip", "").isdigit() else 0
        page = islice(folders, skip, skip + size)
        body: dict[str, Any] = {
            "@odata.context": f"{_root(call)}/$metadata#mailFolders",
            "value": [_folder(each) for each in page],
        }
        if skip + size < len(folders):
            body["@odata.nextLink"] = _next(call, skip + size, size)
        return JSONResponse(body)


def _folder(folder: StoredFolder) -> dict[str, Any]:
    children = [each for each in folder.mailbox.folders.values() if each.parent == folder.id]
    return {
        "id": folder.id,
        "displayName": folder.name,
        "parentFolderId": folder.parent or "AQMkADroot",
        "childFolderCount": len(children),
        "unreadItemCount": sum(1 for each in folder.items.values() if not each.read),
        "totalItemCount": len(folder.items),
        "isHidden": False,
    }


def _root(call: Call) -> str:
    """The address of the mailbox in this request."""
    user = call.path.get("user")
    whose = "me" if user is None else f"users('{quote(user)}')"
    version = "beta" if "/beta/" in call.request.scope["path"] else "v1.0"
    return f"{call.base}/outlook/{version}/{whose}"


def _next(call: Call, skip: int, size: int) -> str:
    query = {name: value for name, value in call.query.items() if name not in ("$skip", "$top")}
    path: str = call.request.scope["path"]
    return f"{call.base}{quote(path)}?{urlencode(query | {'$top': str(size), '$skip': str(skip)})}"
