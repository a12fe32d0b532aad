"""Delta queries of a folder: all its messages first, then what changed, by links with opaque tokens."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.microsoft import errors, odata, shapes
from penstock.simulators.providers.microsoft.shapes import View
from penstock.simulators.providers.world.clock import parse_time
from penstock.simulators.providers.world.outlook import Change, StoredFolder, StoredMail

if TYPE_CHECKING:
    from penstock.simulators.providers.faults import ProviderFault

DEFAULT_PAGE: Final = 10
LARGEST_PAGE: Final = 1_000
MOST_FILTERED: Final = 5_000
"""A query with a filter never shows more messages than this."""


@dataclass(frozen=True, slots=True)
class DeltaState:
    """What a link remembers, the query's options included, as Graph's tokens do."""

    folder: str
    generation: int
    made: float
    phase: Literal["all", "changes"]
    start: int
    """The last change that this round reports."""
    at: int | None = None
    """The position of the last message shown, or the last change."""
    shown: int = 0
    select: tuple[str, ...] | None = None
    since: str | None = None
    created_only: bool = False
    size: int = DEFAULT_PAGE


class Deltas:
    """The delta queries of one provider. `forget` makes every link that was given out useless."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.generation = 1
        self.lag_seconds = 0.0
        """Changes show up this much later, as Graph's do after their notification."""
        self.lifetime = timedelta(days=30)

    def forget(self) -> int:
        self.generation += 1
        return self.generation - 1

    def page(self, call: Call, folder: StoredFolder, view: View, root: str) -> Response:
        """The next page of a round; `root` is the address of this folder's delta query."""
        wanted, fault = odata.of_call(call), call.request.scope.get("penstock.fault")
        token = call.query.get("$deltatoken") or call.query.get("$skiptoken")
        if token is None:
            state = self._begin(call, folder)
        else:
            read = self._read(token, folder)
            if read is None or (fault is not None and fault.kind == "expired_page_token"):
                status = fault.status if fault is not None and fault.status in (400, 404) else 410
                return errors.sync_state_lost(status, root)
            state = read
            if "$deltatoken" in call.query:
                state = replace(state, phase="changes", at=state.start, start=self._visible(folder))
        size = wanted.page_size or state.size
        if fault is not None and fault.kind == "empty_page":
            return self._answer([], root, "$skiptoken", state, wanted)
        items = self._all(folder, view, state) if state.phase == "all" else _changed(folder, view, state)
        taken = list(islice(items, size + 1))
        values = self._repeated(folder, view, state, fault) + [value for _, value in taken[:size]]
        if len(taken) > size:
            state = replace(state, at=taken[size - 1][0], shown=state.shown + size)
            return self._answer(values, root, "$skiptoken", state, wanted)
        return self._answer(values, root, "$deltatoken", replace(state, at=None, shown=0), wanted)

    def _begin(self, call: Call, folder: StoredFolder) -> DeltaState:
        query = call.query
        select = odata.selected(query.get("$select"), shapes.KNOWN, "message")
        since = odata.received_since(query.get("$filter"))
        return DeltaState(
            folder.id,
            self.generation,
            self._now().timestamp(),
            "all",
            self._visible(folder),
            select=select,
            since=since.isoformat() if since else None,
            created_only=query.get("changeType", "") == "created",
            size=odata.top(query.get("$top"), DEFAULT_PAGE, LARGEST_PAGE),
        )

    def _visible(self, folder: StoredFolder) -> int:
        """The last change that is old enough to be shown."""
        if not self.lag_seconds:
            return folder.log[-1].number if folder.log else 0
        limit = self._now() - timedelta(seconds=self.lag_seconds)
        for change in reversed(folder.log):
            if change.at <= limit:
                return change.number
        return 0

    def _all(
        self, folder: StoredFolder, view: View, state: DeltaState
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Messages that are in the folder, the newest first; later ones belong to the next round."""
        since = parse_time(state.since) if state.since else None
        left = MOST_FILTERED - state.shown if since else None
        for item in folder.before(state.at if state.at is not None else state.start + 1):
            if since is not None and item.received < since:
                continue
            if left is not None:
                if left == 0:
                    return
                left -= 1
            yield item.position, shapes.message(item, view, state.select)

    def _repeated(
        self, folder: StoredFolder, view: View, state: DeltaState, fault: ProviderFault | None
    ) -> list[dict[str, Any]]:
        """Some messages that were shown before, if a fault asks for them."""
        if fault is None or fault.kind != "replay":
            return []
        first = state.at if state.at is not None else state.start
        earlier = folder.before(first + 1) if state.phase == "changes" else folder.before(None)
        return [shapes.message(item, view, state.select) for item in islice(earlier, max(1, fault.repeats))]

    def _read(self, token: str, folder: StoredFolder) -> DeltaState | None:
        try:
            given = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            state = DeltaState(**given)
        except (binascii.Error, ValueError, TypeError):
            raise errors.refuse(400, "ErrorInvalidParameter", "The delta token is malformed.") from None
        if state.folder != folder.id:
            raise errors.refuse(400, "ErrorInvalidParameter", "The delta token belongs to another folder.")
        age = self._now().timestamp() - state.made
        fresh = state.generation == self.generation and age <= self.lifetime.total_seconds()
        return (
            replace(state, select=tuple(state.select) if state.select is not None else None)
            if fresh
            else None
        )

    def _answer(
        self, values: list[dict[str, Any]], root: str, name: str, state: DeltaState, wanted: odata.Preferences
    ) -> Response:
        kept = replace(state, made=self._now().timestamp())
        token = base64.urlsafe_b64encode(json.dumps(asdict(kept)).encode()).decode().rstrip("=")
        link = "@odata.nextLink" if name == "$skiptoken" else "@odata.deltaLink"
        body = {
            "@odata.context": f"{root.partition('/v1.0')[0]}/v1.0/$metadata#Collection(message)",
            "value": values,
            link: f"{root}?{name}={token}",
        }
        return JSONResponse(body, headers=wanted.applied)


def _changed(folder: StoredFolder, view: View, state: DeltaState) -> Iterator[tuple[int, dict[str, Any]]]:
    """Changes of this round, each message once, as it is now."""
    assert state.at is not None, "a round of changes begins somewhere"
    for change in folder.changes_after(state.at):
        if change.number > state.start:
            return
        latest = folder.latest[change.item.number]
        if change.number < latest <= state.start:
            continue  # a later change of the same message is in this round, too
        if (shown := _shown(change, folder, view, state)) is not None:
            yield change.number, shown


def _shown(change: Change, folder: StoredFolder, view: View, state: DeltaState) -> dict[str, Any] | None:
    item: StoredMail = change.item
    gone = change.kind in ("deleted", "moved") or item.folder is not folder
    if gone:
        if state.created_only:
            return None
        shown_id = item.immutable_id if view.immutable_ids else change.id
        return shapes.removed(shown_id, "deleted" if change.kind == "deleted" else "changed")
    if state.created_only and change.kind != "created":
        return None
    if state.since is not None and item.received < parse_time(state.since):
        return None
    return shapes.message(item, view, state.select)
