"""The bridge in examples/bullmq with a Valkey and a database of a test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.bullmq_inlets import node_url
from tests.plugins.bullmq import BRIDGE, Bridges, Hands, NodePackages
from tests.plugins.database import Database
from tests.plugins.valkey import Valkey

INGEST = "ingest-document"


@pytest.fixture
def bridges(
    valkey: Valkey, hands: Hands, node_packages: NodePackages, database: Database, tmp_path: Path
) -> Iterator[Bridges]:
    """Bridges on this test's database and the module's Valkey, which begins empty."""
    valkey.flush()
    config = {"queues": {INGEST: queues_of_the_example()[INGEST]}, "lock_ms": 1000}
    environment = {"PENSTOCK_DATABASE_URL": node_url(database), "REDIS_URL": valkey.url}
    started = Bridges(node_packages, tmp_path, environment, config)
    yield started
    started.end()


def queues_of_the_example() -> dict[str, Any]:
    """The configuration that comes with the bridge; read when it is needed, for a project may have none."""
    return dict(json.loads((BRIDGE.parent / "bridge.json").read_text())["queues"])


def job(n: int, name: str = "ingest", **opts: Any) -> dict[str, Any]:
    return {"name": name, "data": {"n": n, "documentId": f"d{n}", "tenantId": "acme"}, "opts": opts}
