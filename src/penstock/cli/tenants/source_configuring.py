"""`penstock source configure`: the settings of one source, such as the folders of a mailbox."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import completion, output
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, TenantSlug, tenant_session
from penstock.errors import InvalidArgument

if TYPE_CHECKING:
    from penstock.sources.sources import SourceDetails


def configure(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="The source's name, kind or id.", autocompletion=completion.sources
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=VALUE", help="A setting; the value is JSON or a text, null the default."
        ),
    ] = None,
    tenant: TenantSlug = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Show or change the settings of a source.

    Changes hold from the next sync on.
    """
    changes = _changes(settings or ())

    async def call() -> SourceDetails:
        async with tenant_session() as session:
            sources, tenant_id = (
                session.engine.sources,
                await session.tenant(tenant, change="source configure" if changes else None, target=source),
            )
            found = await sources.find(tenant_id, source)
            if not changes:
                return await sources.show(tenant_id, found.source_id)
            return await sources.configure(tenant_id, found.source_id, changes)

    found = run(call())
    if as_json:
        output.document(
            {
                "source_id": found.source_id,
                "kind": found.kind,
                "config": found.config,
                "classifier": found.classifier,
            }
        )
        return
    if found.config:
        output.facts({name: json.dumps(value, ensure_ascii=False) for name, value in found.config.items()})
    else:
        output.write("All settings have their defaults.")
    if found.classifier is not None and "classifier" not in found.config:
        output.write(f"Documents are classified by default: {found.classifier}. Change it: classifier=off")


def _changes(given: Sequence[str]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for each in given:
        name, found, value = each.partition("=")
        if not found or not name.strip():
            raise InvalidArgument(
                f"{each!r} is not NAME=VALUE", "settings", "Such as mail_text=true or folders='[\"inbox\"]'"
            )
        try:
            changes[name.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            changes[name.strip()] = value
    return changes
