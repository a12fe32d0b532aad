"""What was not kept and why: list it, restore it, see and change the rules behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from penstock.errors import InvalidArgument
from penstock.model.document_class import CLASSES
from penstock.model.rows import row_from, row_from_json
from penstock.sources.decision_rows import Decision, DecisionList, RuleList, RuleUse
from penstock.sources.hosts import refuse_host

if TYPE_CHECKING:
    from penstock.db import Connection
    from penstock.db.tenancy import TenantPool
    from penstock.model import SourceId, TenantId
    from penstock.settings import Settings
    from penstock.sources.registry import Providers
    from penstock.sources.rule_changes import RuleChanges

LIST: Final = "select ingest.list_decisions($1, $2, $3, $4, $5)"
RESTORE: Final = "select ingest.restore_decision($1, $2, $3)"
COUNTS: Final = "select * from ingest.rule_counts($1)"
SHOW: Final = "select ingest.show_source($1, 0)"
LOCK: Final = "select ingest.set_source($1)"
CONFIGURE: Final = "select ingest.set_source($1, _config => $2)"


class SourceDecisions:
    """The part of `Sources` about decisions."""

    _tenants: TenantPool
    _providers: Providers
    _settings: Settings

    async def skipped(
        self,
        tenant_id: TenantId,
        source_id: SourceId | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
        reason: str | None = None,
        name: str | None = None,
    ) -> DecisionList:
        """What was not kept, newest first: of one source, or of all sources and uploads.

        `reason` is why, `name` the rule or class that decided.
        """
        before = None if cursor is None else _uuid(cursor)
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch(LIST, source_id, before, limit + 1, reason or None, name or None)
        found = [row_from_json(Decision, row[0]) for row in rows]
        more = len(found) > limit
        return DecisionList(
            items=found[:limit], cursor=str(found[limit - 1].decision_id) if more and limit else None
        )

    async def restore(
        self,
        tenant_id: TenantId,
        decision_id: UUID,
        *,
        source_id: SourceId | None = None,
        decided_by: str | None = None,
    ) -> Decision:
        """Take it in after all: a document is processed again, an item of a mailbox is fetched by a sync.

        The rule no longer applies to that sender, nor does the class. Restoring twice changes nothing.
        NotFound if `source_id` is given and it is a decision about another source.
        """
        async with self._tenants.transaction(tenant_id) as conn:
            return row_from_json(Decision, await conn.fetchval(RESTORE, decision_id, decided_by, source_id))

    async def rules(self, tenant_id: TenantId, source_id: SourceId | None = None) -> RuleList:
        """Each rule and class with how often it applied, decided and was reversed."""
        async with self._tenants.transaction(tenant_id) as conn:
            return await self._rules(conn, source_id)

    async def set_rules(self, tenant_id: TenantId, source_id: SourceId, changes: RuleChanges) -> RuleList:
        """Change the rules of a source, from its next sync on; InvalidArgument names what cannot be."""
        async with self._tenants.transaction(tenant_id) as conn:
            await self._change_config(
                conn,
                source_id,
                lambda config: {**config, "rules": changes.applied_to(config.get("rules") or {})},
            )
            return await self._rules(conn, source_id)

    async def _change_config(
        self, conn: Connection, source_id: SourceId, changed: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    ) -> None:
        """Write a source's settings after a change, checked, in the caller's transaction.

        The source's row is locked first: of two changes at a time, the second sees what the first wrote.
        """
        await conn.execute(LOCK, source_id)
        source = json.loads(await conn.fetchval(SHOW, source_id))
        provider = self._providers.get(source["kind"])
        checked = provider.check_config(changed(source["config"]))
        refuse_host(provider, checked, self._settings, source["config"])
        await conn.execute(CONFIGURE, source_id, json.dumps(dict(checked)))

    async def _rules(self, conn: Connection, source_id: SourceId | None) -> RuleList:
        config: Mapping[str, Any] = {}
        if source_id is not None:
            config = json.loads(await conn.fetchval(SHOW, source_id))["config"]
        counts = {(row["stage"], row["name"]): dict(row) for row in await conn.fetch(COUNTS, source_id)}
        rules = config.get("rules") or {}
        return RuleList(
            items=[row_from(RuleUse, row) for row in _uses(config, counts)],
            allow_senders=list(rules.get("allow_senders", ())),
            block_senders=list(rules.get("block_senders", ())),
        )


def _uses(
    config: Mapping[str, Any], counts: Mapping[tuple[int, str], Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    from penstock.sources.mail.rules.judge import RULES

    none = {"fired": 0, "dropped": 0, "reversed": 0}
    rules, classes = config.get("rules") or {}, config.get("classes") or {}
    off, weights = rules.get("off", ()), rules.get("weights", {})
    for name, rule in RULES.items():
        yield {
            **none,
            **counts.get((1, name), {}),
            "stage": 1,
            "name": name,
            "about": rule.about,
            "action": "off" if name in off else "on",
            "weight": weights.get(name, rule.weight),
            "is_changed": name in off or name in weights,
        }
    for name, usual in CLASSES.items():
        yield {
            **none,
            **counts.get((2, name), {}),
            "stage": 2,
            "name": name,
            "about": f"Usually {'kept' if usual == 'keep' else 'skipped'}.",
            "action": classes.get(name, usual),
            "weight": None,
            "is_changed": classes.get(name, usual) != usual,
        }


def _uuid(cursor: str) -> UUID:
    try:
        return UUID(cursor)
    except ValueError:
        raise InvalidArgument(
            "the cursor is invalid", "cursor", "Use that of the previous page, or omit it."
        ) from None
