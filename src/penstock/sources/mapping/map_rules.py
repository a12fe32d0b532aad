"""The form of a field map's file, checked when it is loaded."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from penstock.sources.mapping.expressions import Expression, compile_expression
from penstock.sources.mapping.mapped import Rollup

COLUMNS = frozenset({"client_name", "industry", "summary"})
"""Facts that are columns of ingest.client_intelligence: one text each."""


def _compile(text: object) -> object:
    if not isinstance(text, str) or not text.strip():
        raise ValueError("must be an expression in quotes")
    return compile_expression(text)


Compiled = Annotated[Expression, BeforeValidator(_compile)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


class Rules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Line(Rules):
    """A line `Label: value` of the text; without a label it is the value alone."""

    label: str | None = None
    value: Compiled


class BodyPart(Rules):
    """One line; or, with `each`, a block of lines for every element of a list."""

    label: str | None = None
    value: Compiled | None = None
    each: Compiled | None = None
    lines: list[Line] = []

    @model_validator(mode="after")
    def _is_a_line_or_blocks(self) -> Self:
        if (self.value is None) == (self.each is None):
            raise ValueError("needs either a value, or each and lines")
        if (self.each is not None) != bool(self.lines):
            raise ValueError("needs each and lines together")
        return self


class About(Rules):
    """Whose facts these are: another item of the source, such as the company of a deal."""

    stream: Name
    id: Compiled


class FactRule(Rules):
    """One fact; it is stated only if `when` holds and its value exists."""

    name: Name
    value: Compiled
    rollup: Literal["latest", "list", "sum"] = "latest"
    keep: Annotated[int, Field(ge=1, le=1_000)] | None = None
    as_of: Compiled | None = None
    when: Compiled | None = None
    about: About | None = None

    @model_validator(mode="after")
    def _fits_its_rollup(self) -> Self:
        if self.keep is not None and self.rollup != "list":
            raise ValueError("keep is only for the rollup 'list'")
        if self.name in COLUMNS and self.rollup != "latest":
            raise ValueError(f"{self.name} is one text: its rollup must be 'latest'")
        if self.name == "client_name" and self.about is not None:
            raise ValueError("client_name is stated by the client's own item: remove about")
        return self


class KeyRule(Rules):
    """How the client is recognised in other sources."""

    kind: Literal["domain", "email_domain"]
    value: Compiled


class MapRules(Rules):
    """A whole file. `id`, `created_at` and `updated_at` say where the record has them."""

    document_type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$")]
    version: Annotated[int, Field(ge=1)]
    stream: Name
    id: Compiled
    title: Compiled
    required: list[Compiled] = []
    created_at: Compiled | None = None
    updated_at: Compiled | None = None
    url: Compiled | None = None
    about: About | None = None
    body: list[BodyPart] = []
    facts: list[FactRule] = []
    keys: list[KeyRule] = []

    @model_validator(mode="after")
    def _states_each_fact_once(self) -> Self:
        names = [rule.name for rule in self.facts]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"states {', '.join(sorted(twice))} more than once")
        if self.about is not None and "client_name" in names:
            raise ValueError("client_name is stated by the client's own item: remove about or client_name")
        kinds = [rule.kind for rule in self.keys]
        if len(set(kinds)) < len(kinds):
            raise ValueError("has more than one key of a kind")
        return self


def rollup_of(rule: FactRule | KeyRule) -> Rollup:
    return "key" if isinstance(rule, KeyRule) else rule.rollup


def stated_name(rule: FactRule | KeyRule) -> str:
    """Keys have a dot in their name, which facts cannot have."""
    return f"key.{rule.kind}" if isinstance(rule, KeyRule) else rule.name
