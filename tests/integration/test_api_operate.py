"""What orchestrators, Prometheus, other programs and readers of /docs get."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import httpx2
import pytest

from tests.integration.api_server import api_server, assert_problem
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database


async def test_health_checks_nothing_else_and_readiness_checks_every_service(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client("") as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ok"), ready.text
        assert ready.json()["checks"] == {"database": "ok", "schema": "ok", "blobs": "ok"}
        async with database.connect("admin") as admin:
            await admin.execute("alter schema internal rename to internal_away")
        broken = await client.get("/readyz")
        assert broken.status_code == 503
        assert broken.json()["checks"]["schema"] != "ok"
        assert broken.json()["checks"]["blobs"] == "ok"
        assert (await client.get("/healthz")).status_code == 200
        async with database.connect("admin") as admin:
            await admin.execute("alter schema internal_away rename to internal")


async def test_a_blob_store_that_cannot_be_written_is_not_ready(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client("") as client:
        for path in sorted(server.blobs.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        server.blobs.rmdir()
        server.blobs.write_text("no folder any more")
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["blobs"] != "ok") == (503, True)
        assert str(tmp_path) not in answer.text


async def test_metrics_count_requests_by_route_and_never_by_path(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        await client.get("/v1/projects/default")
        await client.get("/v1/projects/nowhere")
        await client.get("/some/strange/path")
        text = (await client.get("/metrics")).text
        assert re.search(
            r'http_requests_total\{method="GET",route="/v1/projects/\{slug\}",status="200"\} 1', text
        )
        assert re.search(
            r'http_requests_total\{method="GET",route="/v1/projects/\{slug\}",status="404"\} 1', text
        )
        assert "strange" not in text
        assert "http_request_seconds_bucket" in text


async def test_the_documentation_page_loads_nothing_from_elsewhere(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client("") as client:
        page = await client.get("/docs")
        assert page.headers["content-type"].startswith("text/html")
        files = [page.text]
        for name in re.findall(r'(?:src|href)="(docs/[^"]+)"', page.text):
            found = await client.get(f"/{name}")
            assert found.status_code == 200
            files.append(found.text)
        assert len(files) == 3
        for text in files:
            assert not re.search(r"(?:https?:)?//(?!127\.0\.0\.1)[a-z0-9.-]+\.[a-z]{2,}", text)
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert_problem(await client.get("/docs/other.js"), 404)
        described = (await client.get("/openapi.json")).json()
        assert "/v1/documents/upload" in described["paths"]


async def test_anyone_with_the_secret_can_request_embeddings(database: Database, tmp_path: Path) -> None:
    async with (
        api_server(database, tmp_path, brain_api_secret="s3cret") as server,
        server.client("") as client,
    ):
        path, texts = "/internal/embed", {"texts": ["water", "mill"]}
        assert_problem(await client.post(path, json=texts), 401, "X-Brain-Secret")
        wrong = {"X-Brain-Secret": "s3creT"}
        assert_problem(await client.post(path, json=texts, headers=wrong), 401, "X-Brain-Secret")
        right = {"X-Brain-Secret": "s3cret"}
        answer = await client.post(path, json=texts, headers=right)
        assert answer.status_code == 200, answer.text
        made = answer.json()
        assert len(made["embeddings"]) == 2
        assert len(made["embeddings"][0]) == made["dim"]
        assert sum(part * part for part in made["embeddings"][0]) == pytest.approx(1, abs=0.01)
        wrong_texts: list[dict[str, object]] = [
            {"texts": []},
            {"texts": [3]},
            {"texts": "water"},
            {},
            {"texts": [" "]},
        ]
        for bad in [*wrong_texts, {"texts": ["a\u0000"]}]:
            answer = await client.post(path, json=bad, headers=right)
            assert answer.status_code == 422, (bad, answer.text)
        broken = await client.post(path, content=b"{", headers={**right, "Content-Type": "application/json"})
        assert broken.status_code in (400, 422)


async def test_without_a_secret_there_are_no_embeddings(database: Database, tmp_path: Path) -> None:
    async with api_server(database, tmp_path) as server, server.client("") as client:
        for headers in ({}, {"X-Brain-Secret": ""}):
            answer = await client.post("/internal/embed", json={"texts": ["a"]}, headers=headers)
            assert_problem(answer, 404)


def test_the_command_serves_until_it_is_told_to_stop(penstock: CommandLine) -> None:
    with penstock.with_variables(PENSTOCK_DATA_DIR="data").running("api", "--port", "0", "--json") as serving:
        assert serving.stdout is not None
        url = json.loads(serving.stdout.readline())["url"]
        assert httpx2.get(f"{url}/readyz").json()["status"] == "ok"
        port = url.rpartition(":")[2]
        taken = penstock.with_variables(PENSTOCK_DATA_DIR="data")("api", "--port", port, "--json")
        assert (taken.code, taken.error["field"]) == (1, "PENSTOCK_API_PORT")
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(20) == 0
