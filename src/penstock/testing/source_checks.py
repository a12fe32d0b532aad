"""What every provider of a source must do, as a check that a test calls; AssertionError says what failed."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from penstock.sources.errors import SourceError
from penstock.sources.protocol import (
    Checkpoint,
    Cursor,
    Failed,
    Gone,
    Item,
    OpenSource,
    Provider,
    Reader,
    SyncEvent,
)

Act: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Does something to one item of a stream at the provider and returns its id; None if that is not possible."""

Whole: TypeAlias = "dict[str, SourceEvents]"
"""What was read of each stream."""

MOST_BETWEEN: Final = 1_000
LONGEST_ID: Final = 1_000
SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceUnderTest:
    """A provider with a source that has items, and ways to change them; what is not given is not checked.

    `fail` makes the provider fail from now on. `removals_need_full`: a delta does not notice a removal.
    """

    provider: Provider
    source: OpenSource
    add: Act | None = None
    change: Act | None = None
    remove: Act | None = None
    fail: Callable[[], object] | None = None
    removals_need_full: bool = False


@dataclass(slots=True)
class SourceEvents:
    """What one read yielded, in its order."""

    events: list[SyncEvent] = field(default_factory=list)

    @property
    def items(self) -> dict[str, Item]:
        return {event.id: event for event in self.events if isinstance(event, Item)}

    @property
    def gone(self) -> set[str]:
        return {event.id for event in self.events if isinstance(event, Gone)}

    @property
    def failed(self) -> list[Failed]:
        return [event for event in self.events if isinstance(event, Failed)]

    @property
    def checkpoints(self) -> list[Checkpoint]:
        return [event for event in self.events if isinstance(event, Checkpoint)]

    @property
    def end(self) -> Checkpoint:
        return self.checkpoints[-1]


async def read_stream(reader: Reader, stream: str, cursor: Cursor | None = None) -> SourceEvents:
    """Read a stream to its end; by default in full, for the first time."""
    found = SourceEvents()
    async with aclosing(_events(reader, stream, cursor or _FIRST)) as events:
        async for event in events:
            found.events.append(event)
    assert found.events, f"{stream}: the read yielded nothing, not even a checkpoint"
    last = found.events[-1]
    assert isinstance(last, Checkpoint), f"{stream}: the last event must be a checkpoint"
    assert last.done, f"{stream}: the last checkpoint must be done"
    assert sum(each.done for each in found.checkpoints) == 1, (
        f"{stream}: only the last checkpoint may be done"
    )
    return found


async def check_source(tested: SourceUnderTest) -> None:
    """All checks, in an order that reads the source as seldom as possible."""
    whole = await _check_full_pass(tested)
    await _check_resuming(tested, whole)
    last = await _check_unchanged(tested, whole)
    await _check_changes(tested, whole, last)
    await _check_cancelling(tested)
    await _check_failing(tested)


async def _check_full_pass(tested: SourceUnderTest) -> Whole:
    """A full pass ends with `done`, and its items can be stored."""
    whole: Whole = {}
    maps = tested.provider.maps
    async with tested.provider.open(tested.source) as reader:
        assert reader.streams, "a provider has at least one stream"
        assert len(set(reader.streams)) == len(reader.streams), "two streams have the same name"
        for stream in reader.streams:
            whole[stream] = await read_stream(reader, stream)
            since = 0
            for event in whole[stream].events:
                since = 0 if isinstance(event, Checkpoint) else since + 1
                assert since <= MOST_BETWEEN, f"{stream}: {since} events without a checkpoint"
                _check_event(stream, event, maps)
    return whole


async def _check_resuming(tested: SourceUnderTest, whole: Whole) -> None:
    """After a crash at any checkpoint, going on from it loses nothing."""
    for stream, found in whole.items():
        for checkpoint in found.checkpoints[:-1]:
            before = found.events[: found.events.index(checkpoint)]
            cursor = Cursor(_stored(checkpoint.cursor), is_full=True, is_resumed=True, is_first=True)
            async with tested.provider.open(tested.source) as reader:  # as another process would
                after = await read_stream(reader, stream, cursor)
            ids = SourceEvents([*before, *after.events]).items.keys()
            lost = found.items.keys() - ids
            assert not lost, f"{stream}: resuming from {checkpoint.cursor} lost {sorted(lost)[:5]}"
            assert not after.gone & ids, f"{stream}: resuming reported items as gone that exist"


async def _check_unchanged(tested: SourceUnderTest, whole: Whole) -> Whole:
    """Without a change, a delta yields nothing new: what it repeats is exactly what was there."""
    last: Whole = {}
    async with tested.provider.open(tested.source) as reader:
        for stream, before in whole.items():
            last[stream] = after = await read_stream(reader, stream, _next(before))
            assert not after.gone, f"{stream}: nothing was removed, but a delta reports {sorted(after.gone)}"
            for item in after.items.values():
                known = before.items.get(item.id)
                assert known is not None, f"{stream}: a delta yields {item.id}, which the full pass did not"
                assert _same(known, item), f"{stream}: {item.id} did not change, but looks changed"
    return last


async def _check_changes(tested: SourceUnderTest, whole: Whole, last: Whole) -> None:
    """What is added, changed or removed at the provider shows up in the next delta."""
    async with tested.provider.open(tested.source) as reader:
        for stream, before in whole.items():
            found = last[stream]
            for act in (tested.add, tested.change):
                if (item_id := await _acted(act, stream)) is None:
                    continue
                found = await read_stream(reader, stream, _next(found))
                item, known = found.items.get(item_id), before.items.get(item_id)
                assert item is not None, f"{stream}: {item_id} changed, but the delta does not yield it"
                assert known is None or not _same(known, item), f"{stream}: {item_id} looks unchanged"
            if (removed := await _acted(tested.remove, stream)) is None:
                continue
            found = await read_stream(reader, stream, _next(found))
            if not tested.removals_need_full and not found.end.is_complete:
                assert removed in found.gone, (
                    f"{stream}: {removed} was removed, but the delta does not say so"
                )
            assert removed not in found.items, f"{stream}: {removed} was removed, but the delta yields it"
            full = await read_stream(reader, stream)
            assert removed not in full.items, f"{stream}: {removed} was removed, but a full pass yields it"


async def _check_cancelling(tested: SourceUnderTest) -> None:
    """A read that is cancelled or closed in the middle ends at once, and the source can be read again."""
    started = asyncio.Event()

    async def read(reader: Reader) -> None:
        started.set()
        await read_stream(reader, reader.streams[0])

    async def open_and_read() -> None:
        async with tested.provider.open(tested.source) as reader:
            await read(reader)

    async with asyncio.timeout(SECONDS):
        reading = asyncio.create_task(open_and_read())
        await started.wait()
        reading.cancel()
        await asyncio.wait({reading})
        async with tested.provider.open(tested.source) as reader:
            async with aclosing(_events(reader, reader.streams[0], _FIRST)) as events:
                await anext(events)


async def _check_failing(tested: SourceUnderTest) -> None:
    """A provider that fails raises a SourceError, with a code and without the token."""
    if tested.fail is None:
        return
    tested.fail()
    failed: SourceError | None = None
    try:
        async with tested.provider.open(tested.source) as reader:
            await read_stream(reader, reader.streams[0])
    except SourceError as error:
        failed = error
    except Exception as error:
        raise AssertionError(f"the provider failed with {type(error).__name__}, not a SourceError") from error
    assert failed is not None, "the provider failed, but the read did not raise"
    assert failed.code, "an error needs a code"
    token = tested.source.access_token
    assert token is None or token not in f"{failed} {failed.args}", "the error shows the token"


_FIRST: Final = Cursor(None, is_full=True, is_first=True)


def _next(found: SourceEvents) -> Cursor:
    return Cursor(_stored(found.end.cursor), is_full=False)


def _stored(cursor: Any) -> Any:
    """A cursor as it comes back from the database."""
    return json.loads(json.dumps(cursor, allow_nan=False))


def _same(one: Item, other: Item) -> bool:
    return one.version == other.version and _stored(dict(one.payload)) == _stored(dict(other.payload))


def _check_event(stream: str, event: SyncEvent, maps: Mapping[str, object]) -> None:
    match event:
        case Item():
            where = f"{stream}/{event.id}"
            assert 0 < len(event.id) <= LONGEST_ID, f"{where}: an id has 1 to {LONGEST_ID} characters"
            assert event.document_type, f"{where}: it has no document type"
            _stored(dict(event.payload))
            has_text = event.content is not None or event.document_type in maps
            assert has_text or event.skip_reason, (
                f"{where}: neither content nor a map for {event.document_type}"
            )
            for moment in (event.created_at, event.updated_at):
                assert moment is None or moment.tzinfo is not None, f"{where}: {moment} has no time zone"
        case Failed():
            assert event.code, f"{stream}: a failure needs a code"
        case Checkpoint():
            _stored(event.cursor)
        case Gone():
            assert event.id, f"{stream}: an item that is gone needs its id"


async def _acted(act: Act | None, stream: str) -> str | None:
    done = None if act is None else act(stream)
    return await done if inspect.isawaitable(done) else done


async def _events(reader: Reader, stream: str, cursor: Cursor) -> AsyncGenerator[SyncEvent]:
    """The reader's events; closed together with it."""
    events = reader.read(stream, cursor)
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
