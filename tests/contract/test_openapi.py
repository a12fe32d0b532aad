"""The API follows its own description: whatever is sent, valid or not, never causes an internal error."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.integration.api_server import ApiServer, api_server, form
from tests.plugins.database import Database

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
SECRET = "contract"
LONG = bool(os.environ.get("PENSTOCK_CHAOS_LONG"))
EXAMPLES = 40 if LONG else 2


@contextmanager
def served(database: Database, folder: Path) -> Iterator[ApiServer]:
    """The API on a loop of its own, because schemathesis calls it without one."""
    ready = threading.Event()
    found: list[ApiServer] = []
    failed: list[BaseException] = []
    ending: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        limits = {"requests_per_minute": 1_000_000, "brain_api_secret": SECRET}
        async with api_server(database, folder, **limits) as server:
            found.append(server)
            ending.append((asyncio.get_running_loop(), asyncio.Event()))
            ready.set()
            await ending[0][1].wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - told by the test
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(60)
    try:
        assert not failed, failed
        yield found[0]
    finally:
        for loop, over in ending:
            loop.call_soon_threadsafe(over.set)
        thread.join(30)
        assert not failed, failed


@pytest.mark.chaos
@pytest.mark.timeout(1_800 if LONG else 300)
def test_generated_requests_find_no_fault(database: Database, tmp_path: Path) -> None:
    with served(database, tmp_path) as server, requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {server.key}"
        session.headers["X-Brain-Secret"] = SECRET
        upload = f"{server.url}/v1/documents/upload"
        document = session.post(upload, files=form(), timeout=30).json()["document_id"]
        session.post(f"{server.url}/v1/sources/webhook", timeout=30)
        schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
        known = {"document_id": document, "slug": "default", "tenant_slug": "acme"}
        tried = 0
        for result in schema.get_all_operations():
            operation: Any = result.ok()  # type: ignore[union-attr]  # an invalid description ends here
            if operation.path == "/v1/events":
                continue  # a stream without an end; test_live_events reads it
            # Random ids only ever find 404; these are of things that exist.
            names = {parameter.name for parameter in operation.path_parameters}
            given = {name: known[name] for name in names & known.keys()}
            fuzz(operation, GenerationMode.POSITIVE, given, session)
            fuzz(operation, GenerationMode.NEGATIVE, given, session)
            if given:
                fuzz(operation, GenerationMode.NEGATIVE, {}, session)
            tried += 1
        assert tried >= 30


def fuzz(operation: Any, mode: GenerationMode, path: dict[str, str], session: requests.Session) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=path or None))
    def check(case: Any) -> None:
        # Deleting the one document, or waiting for one that no worker runs, would make the rest say nothing.
        if operation.method == "delete" and path:
            return
        case.query.pop("wait", None)
        case.validate_response(case.call(session=session, timeout=30), checks=CHECKS)

    with suppress(Unsatisfiable):  # a call without parameters cannot be made wrongly
        check()
