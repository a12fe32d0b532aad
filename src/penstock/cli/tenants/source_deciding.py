"""`penstock source skipped|restore|rules`: what was not kept, how to take it in, and the rules behind it."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from penstock.cli import completion, output
from penstock.cli.failures import warn
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSession, TenantSlug, tenant_session
from penstock.cli.tenants.source_syncing import NO_WORKER
from penstock.errors import InvalidArgument
from penstock.model import SourceId, TenantId
from penstock.model.queue_names import SYNC
from penstock.model.rows import plain

if TYPE_CHECKING:
    from penstock.sources.decision_rows import Decision, DecisionList, RuleList

OneSource = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="A source's name, kind or id; default: all.",
        autocompletion=completion.sources,
    ),
]
SKIPPED = ("decision_id", "state", "skip_reason", "sender", "subject", "filename")
RULES = ("stage", "name", "action", "weight", "fired", "dropped", "reversed")


def skipped(
    source: OneSource = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="Maximum rows per page.")] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="The cursor of the previous page.")] = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """List items that rules or the classifier skipped."""

    async def call() -> DecisionList:
        async with tenant_session() as session:
            owner = await session.tenant(tenant)
            chosen = await _source(session, owner, source)
            return await session.engine.sources.skipped(owner, chosen, cursor=cursor, limit=limit)

    page = run(call())
    if as_json:
        output.document({"decisions": [plain(each) for each in page.items], "cursor": page.cursor})
        return
    show_skipped(page.items)
    if page.cursor is not None:
        warn(f"There are more: add --cursor {page.cursor}")


def show_skipped(decisions: Sequence[Decision]) -> None:
    """A table of decisions; `why` is the rule or class and what it says."""
    rows = [[*(getattr(each, name) for name in SKIPPED), _why(each)] for each in decisions]
    output.table((*SKIPPED, "why"), rows, empty="No skipped items.")
    if any(each.state == "skipped" for each in decisions):
        warn("To take one in after all: penstock source restore DECISION_ID")


def restore(
    decisions: Annotated[
        list[UUID], typer.Argument(metavar="DECISION", help="Ids of decisions, as source skipped lists them.")
    ],
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Ingest skipped items after all.

    The rule or class that skipped it no longer applies to that sender's files.
    """

    async def call() -> Sequence[Decision]:
        async with tenant_session() as session:
            owner = await session.tenant(
                tenant, change="source restore", target=", ".join(map(str, decisions))
            )
            await session.declare()
            by = getpass.getuser()
            restored = [
                await session.engine.sources.restore(owner, each, decided_by=by)
                for each in dict.fromkeys(decisions)
            ]
            if any(each.state == "restoring" for each in restored) and not await session.served(SYNC):
                warn(NO_WORKER)
            return restored

    restored = run(call())
    if as_json:
        output.document({"decisions": [plain(each) for each in restored]})
        return
    for each in restored:
        what = each.filename or each.subject or each.external_id or each.document_id
        told = "a sync fetches its mail again now" if each.state == "restoring" else "it is kept"
        output.write(f"Restored {what}: {told}.")


def rules(
    source: OneSource = None,
    off: Annotated[
        list[str] | None, typer.Option("--off", metavar="RULE", help="Switch this rule off.")
    ] = None,
    on: Annotated[list[str] | None, typer.Option("--on", metavar="RULE", help="Switch this rule on.")] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="RULE=N", help="How much it counts; RULE=usual for the default."),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="ADDRESS", help="Trust this sender, or everybody of a domain."),
    ] = None,
    block: Annotated[
        list[str] | None,
        typer.Option("--block", metavar="ADDRESS", help="Drop everything of this sender or domain."),
    ] = None,
    forget: Annotated[
        list[str] | None,
        typer.Option("--forget", metavar="ADDRESS", help="Neither trust nor block this sender."),
    ] = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """List rules and classes with their use, or change them.

    Shows how often each fired and how often a person reversed it.
    """
    from penstock.sources.rule_changes import RuleChanges

    changes = RuleChanges(
        off=off or (),
        on=on or (),
        weights=dict(map(_weight, weight or ())),
        allow=allow or (),
        block=block or (),
        forget=forget or (),
    )
    is_changed = changes != RuleChanges()
    if is_changed and source is None:
        raise typer.BadParameter("rules are changed per source", param_hint="SOURCE")

    async def call() -> RuleList:
        async with tenant_session() as session:
            owner = await session.tenant(tenant, change="source rules" if is_changed else None, target=source)
            chosen = await _source(session, owner, source)
            if is_changed and chosen is not None:
                return await session.engine.sources.set_rules(owner, chosen, changes)
            return await session.engine.sources.rules(owner, chosen)

    found = run(call())
    if as_json:
        output.document(plain(found))
        return
    shown = [
        [f"{getattr(row, name)}{'*' if name == 'action' and row.is_changed else ''}" for name in RULES]
        for row in found.items
    ]
    output.table(RULES, [[None if value == "None" else value for value in row] for row in shown])
    for name, senders in (("allow_senders", found.allow_senders), ("block_senders", found.block_senders)):
        if senders:
            output.write(f"{name}: {', '.join(senders)}")


def _why(decision: Decision) -> str:
    said = "; ".join(str(each["reason"]) for each in decision.reasons if "reason" in each)
    return f"{decision.name}: {said}" if said else decision.name


async def _source(session: TenantSession, owner: TenantId, name: str | None) -> SourceId | None:
    return None if name is None else (await session.engine.sources.find(owner, name)).source_id


def _weight(given: str) -> tuple[str, float | None]:
    name, _, number = given.partition("=")
    try:
        return name, None if number == "usual" else float(number)
    except ValueError:
        raise InvalidArgument(
            f"{given!r} is not RULE=NUMBER", "weight", "Such as marketing_words=-0.5, or RULE=usual"
        ) from None
