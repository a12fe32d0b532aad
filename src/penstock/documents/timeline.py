"""Tells a document's working from its waiting: spans made from its events and the attempts of its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

Row = Mapping[str, Any]

STAGES: Final = {"pending": "waiting", "processing": "parsing", "embedding": "embedding"}
"""What a status is called while it lasts; in the others nothing happens."""
ENDS: Final = frozenset({"indexed", "skipped", "failed", "deleted"})
SLACK: Final = timedelta(seconds=2)
"""An event is written inside its attempt, by a clock of another transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanVersions:
    """What did the work; None where it is not known."""

    code: str | None = None
    parser: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of work or waiting, or one moment; an open one has no end."""

    kind: Literal["work", "wait", "event"]
    stage: str
    start: datetime
    end: datetime | None
    seconds: float
    attempt: int | None = None
    worker: str | None = None
    reason_code: str | None = None
    message: str | None = None
    versions: SpanVersions = SpanVersions()


def spans_of(found: Row) -> Sequence[Span]:
    """The spans of what ingest.document_timeline() answers, oldest first."""
    now = _time(found["now"])
    attempts = list(found["attempts"])
    spans: list[Span] = []
    open_span: Span | None = None
    for event in found["events"]:
        at = _time(event["at"])
        if event["to_status"] is None:
            spans.append(_moment(event, at))
            continue
        if open_span is not None:
            spans.append(_ended(open_span, event, at))
            open_span = None
        if event["to_status"] in ENDS:
            spans.append(_moment(event, at))
        else:
            open_span = _opened(event, at, attempts)
    if open_span is not None:
        spans.append(replace(open_span, seconds=_seconds(open_span.start, now)))
    return [_with_result(span, found) for span in sorted(spans, key=lambda span: span.start)]


def _opened(event: Row, at: datetime, attempts: Iterable[Row]) -> Span:
    status = event["to_status"]
    detail = event["detail"]
    if status == "pending":
        return Span(
            kind="wait",
            stage=event["event"],
            start=at,
            end=None,
            seconds=0.0,
            reason_code=event["reason_code"],
            message=event["message"],
        )
    ran = _attempt_at(at, attempts)
    return Span(
        kind="work",
        stage=STAGES[status],
        start=at,
        end=None,
        seconds=0.0,
        attempt=detail.get("attempt") or ran.get("attempt"),
        worker=ran.get("worker"),
        versions=SpanVersions(
            code=ran.get("code"), parser=detail.get("parser"), model=detail.get("embedder")
        ),
    )


def _ended(span: Span, event: Row, at: datetime) -> Span:
    """The span until this event, which says why it ended, if it went wrong."""
    ended = replace(span, end=at, seconds=_seconds(span.start, at))
    if span.kind == "wait":
        return ended
    pipeline = str(event["detail"].get("pipeline") or "").split("|")
    versions = replace(
        span.versions,
        code=pipeline[0] or span.versions.code,
        model=span.versions.model
        or event["detail"].get("model")
        or (pipeline[1] if len(pipeline) > 1 else None),
    )
    return replace(ended, reason_code=event["reason_code"], message=event["message"], versions=versions)


def _moment(event: Row, at: datetime) -> Span:
    return Span(
        kind="event",
        stage=event["event"],
        start=at,
        end=at,
        seconds=0.0,
        attempt=event["detail"].get("attempt"),
        reason_code=event["reason_code"],
        message=event["message"],
        versions=SpanVersions(model=event["detail"].get("model")),
    )


def _attempt_at(at: datetime, attempts: Iterable[Row]) -> Row:
    """The attempt during which something happened."""
    for attempt in attempts:
        claimed, closed = attempt["claimed_at"], attempt["closed_at"]
        if claimed is None or _time(claimed) > at + SLACK:
            continue
        if closed is None or _time(closed) >= at - SLACK:
            return attempt
    return {}


def _with_result(span: Span, found: Row) -> Span:
    """The last work of an indexed document was done by what the document says it was."""
    if span.kind != "event" or span.stage != "indexed" or span.versions.code is not None:
        return span
    code, _, rest = str(found["pipeline"] or "").partition("|")
    model = span.versions.model or rest.partition("|")[0] or None
    return replace(span, versions=SpanVersions(code=code or None, parser=found["parser"], model=model))


def _time(value: str) -> datetime:
    return datetime.fromisoformat(value)


def _seconds(start: datetime, end: datetime) -> float:
    return round(max(0.0, (end - start).total_seconds()), 3)
