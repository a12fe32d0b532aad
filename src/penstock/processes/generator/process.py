"""A process to generate: its name, schema, channel and subject."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from penstock.errors import InvalidArgument
from penstock.processes.channels.names import ChannelName
from penstock.processes.generator.subjects import ProcessSubject
from penstock.sql.schema_names import OTHERS, RESERVED_WORDS

MACHINERY: Final = frozenset({"queues", "internal", "all_tenants", "vault", "api"}) | OTHERS
PLAIN: Final = re.compile(r"[a-z][a-z0-9_]*")
LONGEST: Final = 39
"""An identifier has 63 letters, and `NAME_succeeded_tenant_id_idx` must fit."""


CARRIED: Final[dict[str, ProcessSubject]] = {
    ChannelName.EMAIL: ProcessSubject.EMAIL_MESSAGE,
    ChannelName.SMS: ProcessSubject.SMS_MESSAGE,
    ChannelName.FILE_DELETE: ProcessSubject.FILE,
}
"""The subject of every process over these channels; over the others a process may choose."""


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    schema: str
    channel: str
    """One of Penstock's channels, or the name of a user's own."""
    about: ProcessSubject

    @classmethod
    def named(cls, name: str, schema: str, channel: str, about: ProcessSubject | None = None) -> Self:
        """A process with valid names; raises InvalidArgument otherwise."""
        _check_plain("name", name)
        _check_plain("schema", schema)
        _check_plain("channel", channel)
        if schema in MACHINERY or schema.startswith("pg_"):
            raise InvalidArgument(
                f"the schema {schema} is reserved for Penstock or Postgres",
                "schema",
                "Choose a schema for your domain, such as comms, or a new one",
            )
        if schema in RESERVED_WORDS:
            raise InvalidArgument(f"{schema} is an SQL keyword", "schema", "Choose another name")
        carried = CARRIED.get(channel)
        if carried is not None and about not in (None, carried):
            raise InvalidArgument(
                f"a process over {channel} is about one {carried.words}",
                "about",
                f"Leave --about out, or write a process over {ChannelName.DB_FUNCTION}",
            )
        return cls(name, schema, channel, about or carried or ProcessSubject.SUBJECT)

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def has_own_channel(self) -> bool:
        return self.channel not in tuple(ChannelName)

    @property
    def tables(self) -> tuple[str, ...]:
        suffixes = ("task", "attempt", "attempt_succeeded", "attempt_failed")
        return tuple(f"{self.qualified}_{suffix}" for suffix in suffixes)

    @property
    def first_function(self) -> str:
        """What an attempt runs first: the work itself if it is pure SQL, else the before handler."""
        if self.channel == ChannelName.DB_FUNCTION:
            return f"{self.schema}.perform_{self.name}"
        return f"{self.schema}.get_{self.name}_payload"


def _check_plain(field: str, word: str) -> None:
    if PLAIN.fullmatch(word) is None:
        raise InvalidArgument(
            f"{word!r} cannot be a {field}",
            field,
            "Write lower-case letters, digits and underscores, beginning with a letter",
        )
    if len(word) > LONGEST:
        raise InvalidArgument(
            f"the {field} {word} has {len(word)} letters, {LONGEST} at most fit into the names made of it",
            field,
            "Choose a shorter one",
        )
