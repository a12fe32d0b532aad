"""Facts as the JSON that ingest.put_facts() takes; amounts stay exact."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from typing import Any

from penstock.sources.mapping.mapped import Fact


def facts_json(stated: Iterable[tuple[str, Fact]]) -> str:
    """Each fact comes with the external id of the item that states it."""
    return f"[{','.join(_fact(item, fact) for item, fact in stated)}]"


def _fact(item: str, fact: Fact) -> str:
    return (
        f'{{"item":{encode_basestring_ascii(item)},"client":{encode_basestring_ascii(fact.client)},'
        f'"name":{encode_basestring_ascii(fact.name)},"value":{exact_json(fact.value)},'
        f'"rollup":"{fact.rollup}","keep":{exact_json(fact.keep)},"as_of":{exact_json(fact.as_of)}}}'
    )


def exact_json(value: Any) -> str:
    """json.dumps() cannot write a Decimal as a number: it would have to be a float first."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return encode_basestring_ascii(value)
        case int():
            return str(value)
        case Decimal() if value.is_finite():
            return f"{value:f}"
        case float() if value - value == 0:
            return repr(value)
        case datetime() | date():
            return encode_basestring_ascii(value.isoformat())
        case dict():
            pairs = (
                f"{encode_basestring_ascii(str(name))}:{exact_json(each)}" for name, each in value.items()
            )
            return f"{{{','.join(pairs)}}}"
        case list() | tuple():
            return f"[{','.join(map(exact_json, value))}]"
        case _:
            raise TypeError(f"{value!r} is not a value of JSON")
