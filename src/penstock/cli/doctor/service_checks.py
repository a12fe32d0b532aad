"""Checks the configured services of documents and messages by connecting to each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from penstock.cli import output
from penstock.cli.doctor.checks import Check
from penstock.db.doctor_queries import ServerFacts
from penstock.errors import PenstockError
from penstock.settings import Settings

SECONDS = 15.0
MISSING = 0.9
"""A smaller share of vectors than this is not explained by documents that are being written or swept."""

REINDEX = "index the documents again: penstock project reindex"


async def check_services(facts: ServerFacts, settings: Settings) -> list[Check]:
    """The embedders in use and the vector index always, the others if they are configured."""
    checks = [_models(facts, settings), _alone(_vectors(facts, settings))]
    if settings.smtp_host is not None:
        checks.append(_alone(_smtp(settings)))
    if settings.docling_url is not None:
        checks.append(_alone(_docling(settings.docling_url)))
    return [check for found in await asyncio.gather(*checks) for check in found]


async def _alone(check: Awaitable[Check]) -> list[Check]:
    return [await check]


async def _models(facts: ServerFacts, settings: Settings) -> list[Check]:
    """One line for each embedder that something uses and that does not work, or one for all."""
    from penstock.embed.registry import known_models
    from penstock.embed.remote import VENDORS

    uses = {settings.embedder: "the embedder of new projects"}
    if settings.embedder_fallback is not None:
        uses.setdefault(settings.embedder_fallback, "the fallback")
    for name in facts.embedders:
        uses.setdefault(name, "the embedder of some projects")
    found = await asyncio.gather(*(_model(name, use, settings) for name, use in uses.items()))
    if wrong := [check for check in found if check is not None]:
        return wrong
    vendors = {name: vendor for name in uses if (vendor := name.partition(":")[0]) in VENDORS}
    ready = [model for model in known_models(settings) if model.is_ready]
    said = [
        f"new projects use {settings.embedder}",
        f"answered: {', '.join(vendors)}" if vendors else "",
        f"installed: {', '.join(model.name for model in ready if not model.is_remote)}",
    ]
    unused = [m.name for m in ready if m.is_remote and m.name.partition(":")[0] not in vendors.values()]
    if unused:
        said.append(f"not tried, because nothing uses it: {', '.join(unused)}")
    return [Check("model", "ok", "; ".join(filter(None, said)))]


async def _model(name: str, use: str, settings: Settings) -> Check | None:
    """What is wrong with an embedder: it is created and, if it is remote, called."""
    from penstock.embed.registry import make_embedder
    from penstock.embed.remote import RemoteEmbedder

    try:
        embedder = make_embedder(name, settings)
        try:
            if isinstance(embedder, RemoteEmbedder):
                async with asyncio.timeout(SECONDS):
                    await embedder.embed(["penstock doctor"])
        finally:
            await embedder.close()
    except PenstockError as error:
        return Check("model", "fail", f"{error.message} ({use})", error.remedy)
    except TimeoutError:
        message = f"{name} did not answer within {SECONDS:g} s ({use})"
        return Check(
            "model", "fail", message, "Documents wait until it answers; check its address and the network"
        )
    return None


async def _vectors(facts: ServerFacts, settings: Settings) -> Check:
    if settings.index == "qdrant":
        return await _qdrant(facts, settings)
    if facts.vector_version is None:
        remedy = facts.vectors_remedy or "As a superuser: create extension vector; then: penstock migrate"
        return Check("vectors", "fail", "this database has no pgvector, so documents wait", remedy)
    return Check("vectors", "ok", f"pgvector {facts.vector_version}")


async def _qdrant(facts: ServerFacts, settings: Settings) -> Check:
    address = settings.qdrant_url
    if address is None:
        remedy = "Set PENSTOCK_QDRANT_URL to the address of a Qdrant server"
        return Check(
            "vectors", "fail", "PENSTOCK_INDEX is qdrant, but PENSTOCK_QDRANT_URL is not set", remedy
        )
    try:
        from penstock.index.qdrant_state import look

        async with asyncio.timeout(SECONDS):
            state = await look(address, settings.qdrant_api_key, SECONDS, facts.collections)
    except PenstockError as error:
        return Check("vectors", "fail", error.message, error.remedy)
    except TimeoutError:
        message = f"Qdrant at {address} did not answer within {SECONDS:g} s"
        return Check("vectors", "fail", message, "Start it, or correct PENSTOCK_QDRANT_URL")
    if state.deleted:
        message = f"the collection {state.deleted[0]} was deleted in Qdrant"
        return Check("vectors", "fail", message, f"Restore it from a snapshot, or {REINDEX}")
    if state.old:
        old = output.count(len(state.old), "collection")
        message = f"{old} in Qdrant with the old layout"
        return Check("vectors", "warn", message, "Move them, while everything runs: penstock index move")
    if state.points < MISSING * facts.indexed_chunks:
        message = f"Qdrant has {state.points} vectors for about {facts.indexed_chunks} chunks"
        return Check("vectors", "fail", message, f"If vectors were lost or are in pgvector, {REINDEX}")
    return Check("vectors", "ok", f"Qdrant {state.version} at {address} answers")


async def _smtp(settings: Settings) -> Check:
    from aiosmtplib import SMTPException

    from penstock.processes.channels.smtp_connections import SmtpConnections

    place = f"{settings.smtp_host}:{settings.smtp_port}"
    remedy = "Check PENSTOCK_SMTP_HOST, _PORT, _SECURITY, _USERNAME and _PASSWORD"
    try:
        connections = SmtpConnections(settings, timeout=SECONDS)
        async with connections.lend():
            pass
        await connections.close()
    except PenstockError as error:
        return Check("email", "fail", error.message, error.remedy)
    except (SMTPException, OSError, TimeoutError) as error:
        message = f"{place} rejects our mail: {_first_line(error)}"
        return Check("email", "fail", message, remedy)
    signed_in = f", logged in as {settings.smtp_username}" if settings.smtp_username else ""
    return Check("email", "ok", f"{place} answers{signed_in}")


async def _docling(url: str) -> Check:
    from httpx2 import HTTPError

    from penstock.net.outbound import open_client

    try:
        async with open_client(allow_private=True, total_seconds=SECONDS) as client:
            answer = await client.get(f"{url.rstrip('/')}/health")
    except (HTTPError, PenstockError, OSError, TimeoutError) as error:
        message = f"{url} did not answer: {_first_line(error)}"
        return Check("docling", "fail", message, "Start Docling Serve there, or unset PENSTOCK_DOCLING_URL")
    if answer.is_server_error:
        return Check(
            "docling", "fail", f"{url} answered {answer.status_code}", "See the log of Docling Serve"
        )
    return Check("docling", "ok", f"{url} answers")


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
