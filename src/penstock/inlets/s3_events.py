"""Reads what S3 tells of its objects: plain, wrapped by SNS or EventBridge, or a new notification's test.

An event only says where to look, so that of each nothing is read but the bucket, the key and its place in
the order. Linear in the length of the text, which a queue limits to 1 MiB.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus

from penstock.db.storable import storable_text
from penstock.model.s3_objects import LONGEST_KEY

MOST_RECORDS: Final = 100
MOST_WRAPPINGS: Final = 3
LONGEST_BUCKET: Final = 255
_SEQUENCER: Final = re.compile(r"[0-9A-Fa-f]{1,64}")
_LOOK_AT: Final = ("ObjectCreated:", "ObjectRemoved:", "LifecycleExpiration:", "ObjectRestore:Completed")
_BRIDGED: Final = frozenset(
    {"Object Created", "Object Deleted", "Object Restore Completed", "Object Restore Expired"}
)


class EventRefused(Exception):
    """A body that is not an event of S3; the reason is for its sender."""


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """Something happened to an object. Without a `sequencer` nobody knows before or after what."""

    bucket: str
    key: str
    sequencer: str | None = None
    version: str | None = None

    @property
    def identity(self) -> str | None:
        """The same for each copy of the event; None if only its message can tell them apart."""
        if self.sequencer is None:
            return None
        return f"{self.bucket}/{self.sequencer.upper()}/{self.version or ''}/{self.key}"


def events_of(body: str) -> Sequence[ObjectEvent]:
    """The objects to look at; none for a test, or a change that leaves the content as it is. EventRefused."""
    given = _parsed(body)
    for _ in range(MOST_WRAPPINGS):
        if not isinstance(given, dict):
            raise EventRefused("the body is not an event of S3: it is no JSON object")
        if given.get("Type") == "Notification" and isinstance(given.get("Message"), str):
            given = _parsed(given["Message"])  # SNS
        elif "detail-type" in given and "detail" in given:
            return _bridged(given)
        elif isinstance(given.get("Records"), list):
            return _plain(given["Records"])
        elif given.get("Event") == "s3:TestEvent":
            return ()
        else:
            raise EventRefused("the body is not an event of S3: it has neither Records nor detail")
    raise EventRefused(f"the event is wrapped more than {MOST_WRAPPINGS} times")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise EventRefused("the body is not JSON") from None


def _plain(records: Sequence[Any]) -> Sequence[ObjectEvent]:
    if len(records) > MOST_RECORDS:
        raise EventRefused(f"it has {len(records)} records; at most {MOST_RECORDS} are read")
    found = []
    for number, record in enumerate(records):
        where = f"Records[{number}]"
        name = _text(record, "eventName", where).removeprefix("s3:")
        if not name.startswith(_LOOK_AT):
            continue
        s3 = _object(record, "s3", where)
        thing = _object(s3, "object", f"{where}.s3")
        bucket = _text(_object(s3, "bucket", f"{where}.s3"), "name", f"{where}.s3.bucket")
        key = unquote_plus(_text(thing, "key", f"{where}.s3.object"))
        found.append(_event(bucket, key, thing, "versionId", f"{where}.s3.object"))
    return found


def _bridged(given: Mapping[str, Any]) -> Sequence[ObjectEvent]:
    if given.get("source") != "aws.s3":
        raise EventRefused(f"source: {str(given.get('source'))[:100]!r} is not aws.s3")
    if _text(given, "detail-type", "") not in _BRIDGED:
        return ()
    detail = _object(given, "detail", "")
    thing = _object(detail, "object", "detail")
    bucket = _text(_object(detail, "bucket", "detail"), "name", "detail.bucket")
    key = _text(thing, "key", "detail.object")
    # EventBridge does not say whether it encodes the key. A look at what is not there costs a request.
    keys = dict.fromkeys((key, unquote_plus(key)))
    return [_event(bucket, each, thing, "version-id", "detail.object") for each in keys]


def _event(bucket: str, key: str, thing: Mapping[str, Any], version: str, where: str) -> ObjectEvent:
    if len(bucket) > LONGEST_BUCKET or not _is_text(bucket):
        place = f"{where.removesuffix('.object')}.bucket.name"
        raise EventRefused(f"{place}: it must be a text of 1 to {LONGEST_BUCKET} characters in UTF-8")
    if not key or len(key) > LONGEST_KEY or not _is_text(key):
        raise EventRefused(f"{where}.key: it must be a text of 1 to {LONGEST_KEY} characters in UTF-8")
    sequencer = thing.get("sequencer")
    if sequencer is not None and (not isinstance(sequencer, str) or not _SEQUENCER.fullmatch(sequencer)):
        # Stores other than S3 send an empty one, or none.
        if sequencer != "":
            raise EventRefused(f"{where}.sequencer: it must be a hexadecimal number of at most 64 digits")
        sequencer = None
    found = thing.get(version)
    return ObjectEvent(bucket, key, sequencer, found[:1_024] if isinstance(found, str) else None)


def _is_text(name: str) -> bool:
    """Whether it was UTF-8, and the database can hold it."""
    return storable_text(name) == name and "\N{REPLACEMENT CHARACTER}" not in name


def _object(given: Any, name: str, where: str) -> Mapping[str, Any]:
    found = given.get(name) if isinstance(given, dict) else None
    if not isinstance(found, dict):
        raise EventRefused(f"{where}.{name}: there is no such object".lstrip("."))
    return found


def _text(given: Any, name: str, where: str) -> str:
    found = given.get(name) if isinstance(given, dict) else None
    if not isinstance(found, str) or not found:
        raise EventRefused(f"{where}.{name}: there is no such text".lstrip("."))
    return found
