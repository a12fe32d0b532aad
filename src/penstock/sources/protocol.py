"""What a provider of a source implements: it reads streams of items and says how far it has read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from penstock.model import SourceId, TenantId

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.mail.known import MailMemory
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.oauth.app import OAuthApp

Json: TypeAlias = Any
"""A value that json.dumps accepts."""


class FileContent(Protocol):
    """The bytes of a file at the provider; they are fetched only if the item is new or has changed."""

    @property
    def filename(self) -> str:
        """The name with its ending, which helps to find the parser."""

    @property
    def media_type(self) -> str | None:
        """What the provider says it is; None if it does not say."""

    def open(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The bytes, in parts of any size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One record or file as the provider has it now.

    `id` is the provider's own id within the stream. `version` changes whenever the item changes; without one
    the payload is compared. Of a file, `content` gives the bytes; of a record, the field map gives the text.
    `fingerprint` is compared instead of both, for a payload that names things which change without the item.

    `by_content`: the file's identity is its content, so that equal files are one document; otherwise it is
    the id. `source_metadata` is kept with the ingestion. `skip_reason` says why no document is made of it,
    `decision` which rule decided that, as a row of ingest.decision.
    """

    id: str
    document_type: str
    payload: Mapping[str, Json]
    version: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    content: FileContent | None = None
    fingerprint: str | None = None
    by_content: bool = False
    source_metadata: Mapping[str, Json] = field(default_factory=dict)
    skip_reason: str | None = None
    decision: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """The item no longer exists at the provider."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One item could not be read; the others are not affected. `path` is the field that is wrong, if any."""

    id: str | None
    code: str
    message: str
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything yielded before is covered by this cursor; both are committed in one transaction.

    `cursor` is the provider's alone: whatever lets it go on from here. With `done` the pass over the stream
    is complete, and the next sync starts from this cursor; `is_complete` says that the pass yielded all there
    is even though only changes were asked for, because the provider cannot tell what changed. `keeps_unseen`:
    what the pass did not yield is not gone. `expected` is about how many items the pass has in all,
    `left_out` how many the initial cap or a filter excluded so far.
    """

    cursor: Json
    done: bool = False
    is_complete: bool = False
    keeps_unseen: bool = False
    expected: int | None = None
    left_out: int = 0


SyncEvent: TypeAlias = Item | Gone | Failed | Checkpoint


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a read starts. `value` is the last committed checkpoint's; None at the very beginning.

    `is_full`: read everything that exists, not only changes; at the end of a full pass, items it did not
    yield are removed. `is_resumed`: `value` is from the middle of a pass that was interrupted. `is_first`:
    the stream has never been read to its end, so the initial caps apply.
    """

    value: Json
    is_full: bool
    is_resumed: bool = False
    is_first: bool = False


class Reader(Protocol):
    """Reads one source; opened for one sync and closed at its end."""

    @property
    def streams(self) -> Sequence[str]:
        """In the order they are read, such as companies before contacts."""

    def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        """Yield what there is from the cursor on, a checkpoint at least every few hundred items, and at the
        end a checkpoint that is `done`."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source as its provider sees it during a sync; `access_token` is valid when the sync begins."""

    tenant_id: TenantId
    source_id: SourceId
    kind: str
    account: str | None
    config: Mapping[str, Json]
    settings: Settings = field(repr=False)
    access_token: str | None = field(default=None, repr=False)
    memory: MailMemory | None = field(default=None, repr=False)
    """What a mailbox remembers of earlier mails; None where there is no database."""
    password: str | None = field(default=None, repr=False)
    """Of a source that logs in with one."""


@runtime_checkable
class PasswordProvider(Protocol):
    """What a provider has in addition if its sources log in with a password."""

    def account_of(self, config: Mapping[str, Json]) -> str:
        """The account, for people; a tenant has one source of it."""

    def place_of(self, config: Mapping[str, Json]) -> str:
        """Where the password may be sent: it is given for this place and is not used for another."""


@runtime_checkable
class HostProvider(Protocol):
    """What a provider has in addition if the user says which server its sources connect to."""

    def host_of(self, config: Mapping[str, Json]) -> str:
        """The setting `host`: a literal address that may not be reached is refused when it is set."""


@runtime_checkable
class LookProvider(Protocol):
    """What a provider has in addition if each of its items is read by a task of its own.

    A sync of such a source only compares what it lists with what is known; a task looks at each item that
    differs, or is no longer listed. An inlet that hears of a change enqueues the same task. A look takes the
    item as it is now, so that it does not matter in which order the changes are heard of.
    """

    def look(
        self, source: OpenSource, stream: str, item_id: str
    ) -> AbstractAsyncContextManager[Item | Gone]: ...


class Provider(Protocol):
    """A kind of source. `kind` is its row in internal.source_kind and its entry point's name."""

    kind: ClassVar[str]
    title: ClassVar[str]
    """The name that people read."""

    @property
    def maps(self) -> Mapping[str, FieldMap]:
        """The field map of each document type whose items have no content of their own."""

    def oauth(self, settings: Settings) -> OAuthApp | None:
        """How the user grants access; None for a source that needs no grant."""

    def check_config(self, config: Mapping[str, Json]) -> Mapping[str, Json]:
        """The configuration with its defaults; InvalidArgument names a field that cannot be used."""

    def open(self, source: OpenSource) -> AbstractAsyncContextManager[Reader]:
        """A reader of the source, for one sync."""
