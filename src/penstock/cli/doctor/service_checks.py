"""Checks the configured services of documents and messages by connecting to each."""

from __future__ import annotations

import asyncio

from penstock.cli.doctor.checks import Check
from penstock.db.doctor_queries import ServerFacts
from penstock.errors import PenstockError
from penstock.settings import Settings

SECONDS = 15.0


async def check_services(facts: ServerFacts, settings: Settings) -> list[Check]:
    """The embedder and the vector index always, the others if they are configured."""
    checks = [_model(settings), _vectors(facts, settings)]
    if settings.smtp_host is not None:
        checks.append(_smtp(settings))
    if settings.docling_url is not None:
        checks.append(_docling(settings.docling_url))
    return list(await asyncio.gather(*checks))


async def _model(settings: Settings) -> Check:
    from penstock.embed.registry import known_models, make_embedder
    from penstock.embed.remote import RemoteEmbedder

    try:
        embedder = make_embedder(settings.embedder, settings)
        try:
            if isinstance(embedder, RemoteEmbedder):
                async with asyncio.timeout(SECONDS):
                    await embedder.embed(["penstock doctor"])
        finally:
            await embedder.close()
    except PenstockError as error:
        return Check("model", "fail", error.message, error.remedy)
    except TimeoutError:
        message = f"{settings.embedder} did not answer within {SECONDS:g} s"
        return Check(
            "model", "fail", message, "Documents wait until it answers; check its address and the network"
        )
    ready = ", ".join(model.name for model in known_models(settings) if model.is_ready)
    answered = " and it answers" if isinstance(embedder, RemoteEmbedder) else ""
    return Check("model", "ok", f"new projects use {settings.embedder}{answered}; ready: {ready}")


async def _vectors(facts: ServerFacts, settings: Settings) -> Check:
    if settings.index == "qdrant":
        return await _qdrant(settings)
    if facts.vector_version is None:
        remedy = facts.vectors_remedy or "As a superuser: create extension vector; then: penstock migrate"
        return Check("vectors", "fail", "this database has no pgvector, so documents wait", remedy)
    return Check("vectors", "ok", f"pgvector {facts.vector_version}")


async def _qdrant(settings: Settings) -> Check:
    address = settings.qdrant_url
    if address is None:
        remedy = "Set PENSTOCK_QDRANT_URL to the address of a Qdrant server"
        return Check(
            "vectors", "fail", "PENSTOCK_INDEX is qdrant, but PENSTOCK_QDRANT_URL is not set", remedy
        )
    try:
        from penstock.index.qdrant import ask_version

        async with asyncio.timeout(SECONDS):
            version = await ask_version(address, settings.qdrant_api_key)
    except PenstockError as error:
        return Check("vectors", "fail", error.message, error.remedy)
    except TimeoutError:
        message = f"Qdrant at {address} did not answer within {SECONDS:g} s"
        return Check("vectors", "fail", message, "Start it, or correct PENSTOCK_QDRANT_URL")
    return Check("vectors", "ok", f"Qdrant {version} at {address} answers")


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
