"""Applies a field map to records: title, text, facts and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

from penstock.sources.mapping.expressions import Expression
from penstock.sources.mapping.functions import moment
from penstock.sources.mapping.map_rules import (
    About,
    BodyPart,
    FactRule,
    KeyRule,
    MapRules,
    rollup_of,
    stated_name,
)
from penstock.sources.mapping.mapped import Fact, MapFailed, Mapped

Json: TypeAlias = Any

LONGEST_VALUE: Final = 10_000
"""Characters of a text that a fact keeps; the document has all of it."""


class RecordMap:
    """A loaded field map. It can be used by several threads at a time."""

    def __init__(self, rules: MapRules) -> None:
        self._rules = rules
        self._stated: Sequence[FactRule | KeyRule] = (*rules.facts, *rules.keys)

    @property
    def document_type(self) -> str:
        return self._rules.document_type

    @property
    def version(self) -> int:
        return self._rules.version

    @property
    def stream(self) -> str:
        return self._rules.stream

    def external_id(self, payload: Mapping[str, Json]) -> str:
        """STREAM/ID, such as companies/42."""
        found = self._value(self._rules.id, payload)
        if found is None:
            raise MapFailed(self.document_type, self._rules.id.text, "is missing")
        return f"{self.stream}/{found}"

    def apply(self, external_id: str, payload: Mapping[str, Json]) -> Mapped:
        """Pure: the same payload always gives the same result. Raises MapFailed."""
        try:
            return self._applied(external_id, payload)
        except RecursionError:
            raise MapFailed(self.document_type, "a value", "is nested too deeply") from None

    def _applied(self, external_id: str, payload: Mapping[str, Json]) -> Mapped:
        rules = self._rules
        for expression in rules.required:
            if self._value(expression, payload) is None:
                raise MapFailed(self.document_type, expression.text, "is missing")
        updated_at = self._moment(rules.updated_at, payload)
        title = self._value(rules.title, payload)
        lines = [line for part in rules.body for line in self._lines(part, payload)]
        url = None if rules.url is None else self._value(rules.url, payload)
        return Mapped(
            title=None if title is None else _written(title),
            text="\n".join(lines) or (None if title is None else _written(title)),
            facts=tuple(self._facts(external_id, payload, updated_at)),
            url=None if url is None else str(url),
            created_at=self._moment(rules.created_at, payload),
            updated_at=updated_at,
        )

    def _facts(self, own: str, payload: Mapping[str, Json], updated_at: datetime | None) -> Iterator[Fact]:
        client = self._client(self._rules.about, own, payload)
        for rule in self._stated:
            about, as_of, keep = client, updated_at, None
            if isinstance(rule, FactRule):
                if rule.when is not None and not self._value(rule.when, payload):
                    continue
                if rule.about is not None:
                    about = self._client(rule.about, own, payload)
                if rule.as_of is not None:
                    as_of = self._moment(rule.as_of, payload)
                keep = rule.keep
            if about is None or (value := _kept(self._value(rule.value, payload))) is None:
                continue
            yield Fact(
                client=about,
                name=stated_name(rule),
                value=value,
                rollup=rollup_of(rule),
                keep=keep,
                as_of=as_of,
            )

    def _client(self, about: About | None, own: str, payload: Mapping[str, Json]) -> str | None:
        if about is None:
            return own
        found = self._value(about.id, payload)
        return None if found is None else f"{about.stream}/{found}"

    def _lines(self, part: BodyPart, payload: Json) -> Iterator[str]:
        if part.value is not None:
            yield from self._line(part.label, part.value, payload)
        elif part.each is not None:
            elements = self._value(part.each, payload) or []
            if not isinstance(elements, list):
                raise MapFailed(self.document_type, part.each.text, "is not a list")
            for number, element in enumerate(elements):
                block = [text for line in part.lines for text in self._line(line.label, line.value, element)]
                yield from ["", *block] if number and block else block

    def _line(self, label: str | None, expression: Expression, payload: Json) -> Iterator[str]:
        if (value := self._value(expression, payload)) is not None and (text := _written(value)):
            yield text if label is None else f"{label}: {text}"

    def _moment(self, expression: Expression | None, payload: Mapping[str, Json]) -> datetime | None:
        if expression is None:
            return None
        try:
            return moment(self._value(expression, payload))
        except ValueError as error:
            raise self._failed(expression, str(error)) from None

    def _value(self, expression: Expression, payload: Json) -> Json:
        """None for what is missing or empty."""
        try:
            value = expression.evaluate(payload)
        except ValueError as error:  # of a function; the library's own errors are ValueErrors too
            raise self._failed(expression, str(error)) from None
        if isinstance(value, str):
            value = value.strip()
        return None if value == "" else value

    def _failed(self, expression: Expression, reason: str) -> MapFailed:
        return MapFailed(self.document_type, ", ".join(expression.paths) or expression.text, reason)


def _written(value: Json) -> str:
    """A value as a person reads it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case Decimal():
            return f"{value:f}"
        case list():
            return ", ".join(text for each in value if each is not None and (text := _written(each)))
        case dict():
            return ", ".join(f"{name} {text}" for name, each in value.items() if (text := _written(each)))
        case None:
            return ""
        case _:
            return storable(str(value))


def _kept(value: Json) -> Json:
    """A fact's value without what is empty; None if nothing is left."""
    match value:
        case str():
            return storable(value.strip())[:LONGEST_VALUE] or None
        case dict():
            return {name: kept for name, each in value.items() if (kept := _kept(each)) is not None} or None
        case list():
            return [kept for each in value if (kept := _kept(each)) is not None] or None
        case _:
            return value


def storable(text: str) -> str:
    """Postgres accepts neither NUL nor lone surrogates; most texts have none, and are not copied."""
    if text.isascii() and "\x00" not in text:
        return text
    from penstock.db.storable import storable_text

    return storable_text(text)
