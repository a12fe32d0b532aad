"""`penstock mcp config`: prints the settings to paste into an AI assistant, with paths and key filled in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.mcp.clients import CLIENTS, Launch
from penstock.cli.session import run
from penstock.cli.tenant_session import DEFAULT, accounts_of_operators
from penstock.errors import InvalidArgument
from penstock.settings import PREFIX, Settings

PLACEHOLDER: Final = "PASTE_AN_API_KEY_HERE"
READS: Final = ("documents:read", "search")
NEEDED: Final = (
    *("data_dir", "database_url", "statement_cache", "blob_url", "s3_endpoint", "models_dir"),
    *("index", "qdrant_url", "qdrant_api_key", "embedder", "embedder_fallback", "embedding_fallback_url"),
    *("brain_url", "brain_api_secret", "openai_api_key", "openai_base_url"),
    *("cohere_api_key", "cohere_base_url", "voyage_api_key", "voyage_base_url", "allow_private_addresses"),
    *("search_embed_seconds", "reranker", "rerank_passages", "rerank_seconds", "tei_api_key"),
    *(
        "qdrant_timeout_seconds",
        "exact_search_chunks",
        "embedding_requests_per_minute",
        "embedding_tokens_per_minute",
    ),
)
"""Settings that searching depends on; if set here, the assistant's copy must set them too."""

Client = Annotated[
    str | None,
    typer.Argument(metavar="CLIENT", help=f"Assistant: {', '.join(CLIENTS)}. Default: all of them."),
]
All = Annotated[bool, typer.Option("--all", help="Print the settings of every assistant.")]
CreateKey = Annotated[
    bool,
    typer.Option(
        "--create-key",
        help="Create an API key that may only read and search, and put it into the settings.",
    ),
]
Owner = Annotated[
    str, typer.Option("--tenant", metavar="SLUG", help="The tenant whose documents the new key may read.")
]


def config(
    client: Client = None,
    every: All = False,
    create_key: CreateKey = False,
    tenant: Owner = DEFAULT,
    as_json: output.AsJson = False,
) -> None:
    """Print the settings for an AI assistant, ready to paste.

    For Claude Desktop, Claude Code, Cursor and VS Code.
    """
    if client is not None and client not in CLIENTS:
        raise InvalidArgument(
            f"unknown assistant {client!r}", "client", f"Use one of {', '.join(CLIENTS)}, or --all"
        )
    if client is not None and every:
        raise InvalidArgument(f"--all and {client} cannot be used together", "client", "Use one of them")
    names = list(CLIENTS) if client is None else [client]
    settings = Settings()
    secret, key_id = _created(tenant, names) if create_key else (settings.api_key, None)
    launch = Launch.of_this_program(_variables(settings) | {f"{PREFIX}API_KEY": secret or PLACEHOLDER})
    if as_json:
        rows = [_document(name, launch) for name in names]
        output.document({"key_id": key_id, "has_key": secret is not None, "clients": rows})
        return
    for number, name in enumerate(names):
        if number:
            output.write("")
        _show(name, launch)
    if secret is None:
        warn(
            f"The settings contain no key: replace {PLACEHOLDER}, or run this again with "
            "--create-key to create one that may only read and search."
        )
    else:
        warn("The settings contain an API key: keep the file private and out of version control.")


def _created(tenant: str, names: list[str]) -> tuple[str, str]:
    async def call() -> tuple[str, str]:
        async with accounts_of_operators() as accounts:
            owner = await accounts.find_tenant(tenant)
            made = await accounts.create_key(owner.tenant_id, f"mcp: {', '.join(names)}", READS)
            return made.secret, str(made.key_id)

    return run(call())


def _variables(settings: Settings) -> dict[str, str]:
    """The settings made here, by variable name; an embedded server is found by its folder."""
    told = {
        name: getattr(settings, name)
        for name in NEEDED
        if name in settings.model_fields_set and getattr(settings, name) is not None
    }
    if settings.database_url is None:
        told["data_dir"] = settings.data_dir
    return {
        PREFIX + name.upper(): str(value.absolute() if isinstance(value, Path) else value)
        for name, value in told.items()
    }


def _document(name: str, launch: Launch) -> dict[str, object]:
    client = CLIENTS[name]
    return {
        "client": name,
        "file": client.file,
        "config": client.render(launch),
        "command": None if client.by_command is None else client.by_command(launch),
    }


def _show(name: str, launch: Launch) -> None:
    client = CLIENTS[name]
    output.write(f"# {client.title}: add this to {client.file}, next to what is already there.")
    output.write(json.dumps(client.render(launch), indent=2))
    if client.by_command is not None:
        output.write(f"# Or let {client.title} add it:")
        output.write(client.by_command(launch))
    output.write(f"# {client.after}")
