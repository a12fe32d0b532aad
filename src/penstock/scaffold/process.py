"""A process to be written: its name, its schema, the channel of its attempts and what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from penstock.errors import InvalidArgument
from penstock.scaffold.reserved import HOUSE_SCHEMAS, RESERVED_WORDS
from penstock.scaffold.things import Thing

PLAIN: Final = re.compile(r"[a-z][a-z0-9_]*")
LONGEST: Final = 39
"""An identifier has 63 letters, and `NAME_succeeded_tenant_id_idx` must fit."""


class Channel(StrEnum):
    DB_FUNCTION = "db_function"
    EMAIL = "email"
    SMS = "sms"
    FILE_DELETE = "file_delete"

    @property
    def carries(self) -> Thing | None:
        """What every process over this channel is about; None where the process may choose."""
        return _CARRIED.get(self)


_CARRIED: Final = {
    Channel.EMAIL: Thing.EMAIL_MESSAGE,
    Channel.SMS: Thing.SMS_MESSAGE,
    Channel.FILE_DELETE: Thing.FILE,
}


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    schema: str
    channel: Channel
    about: Thing

    @classmethod
    def named(cls, name: str, schema: str, channel: Channel, about: Thing | None = None) -> Self:
        """A process whose names fit the database; raises InvalidArgument for others."""
        _check_plain("name", name)
        _check_plain("schema", schema)
        if schema in HOUSE_SCHEMAS or schema.startswith("pg_"):
            raise InvalidArgument(
                f"the schema {schema} belongs to the machinery, or to Postgres",
                "schema",
                "Choose a schema of the business, such as comms, or a new one",
            )
        if schema in RESERVED_WORDS:
            raise InvalidArgument(f"{schema} is a word of SQL", "schema", "Choose another name")
        carried = channel.carries
        if carried is not None and about not in (None, carried):
            raise InvalidArgument(
                f"a process over {channel} is about one {carried.words}",
                "about",
                f"Leave --about out, or write a process over {Channel.DB_FUNCTION}",
            )
        return cls(name, schema, channel, about or carried or Thing.SUBJECT)

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def tables(self) -> tuple[str, ...]:
        suffixes = ("task", "attempt", "attempt_succeeded", "attempt_failed")
        return tuple(f"{self.qualified}_{suffix}" for suffix in suffixes)

    @property
    def first_function(self) -> str:
        """What an attempt runs first: the work itself where all is SQL, else the before handler."""
        if self.channel is Channel.DB_FUNCTION:
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
