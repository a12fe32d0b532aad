"""Behind PgBouncer in transaction mode, set up as docs/operate/behind-a-pooler.md says: everything works."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from penstock.db.logins import OPERATOR, RUNTIME
from tests.integration.test_cli_up import heard, indexed
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.pgbouncer import PgBouncer


@pytest.fixture
def pooled(database: Database, pgbouncer: PgBouncer, tmp_path: Path) -> CommandLine:
    """penstock with the settings of the page."""
    return CommandLine(
        tmp_path,
        {
            "PENSTOCK_DATABASE_URL": pgbouncer.url(RUNTIME),
            "PENSTOCK_OPERATOR_URL": pgbouncer.url(OPERATOR),
            "PENSTOCK_LISTEN_URL": database.runtime_url,
            "PENSTOCK_ADMIN_URL": database.admin_url,
            **({} if pgbouncer.prepares else {"PENSTOCK_STATEMENT_CACHE": "0"}),
            "PENSTOCK_DATA_DIR": str(tmp_path / "data"),
            "PENSTOCK_PARSE_PROCESSES": "1",
        },
    )


@pytest.mark.timeout(240)
async def test_api_workers_ingest_and_search_work_through_a_transaction_pooler(
    pooled: CommandLine, database: Database
) -> None:
    with pooled.running("up", "--port", "0", "--json") as child:
        first = heard(child)
        for text in ("The gate opens.", "The gate closes."):
            assert (await indexed(first["url"], first["api_key"], text))["status"] == "indexed"
        found = pooled("search", "gate", "--json")
        assert len(found.json["hits"]) == 2, found.err
        stats = pooled("queue", "stats", "--json")
        assert stats.code == 0, stats.err
        async with database.connect() as admin:
            listening = await admin.fetch(
                "select application_name from pg_stat_activity where datname = $1 and client_port = -1 "
                "and application_name = 'penstock listener'",
                database.name,
            )
        assert listening  # directly, by the socket
        doctor = {check["check"]: check for check in pooled("doctor", "--json").json["checks"]}
        assert (doctor["listen"]["status"], doctor["workers"]["status"]) == ("ok", "ok"), json.dumps(doctor)
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 0


def test_doctor_finds_a_listen_that_goes_nowhere(pooled: CommandLine, pgbouncer: PgBouncer) -> None:
    wrong = pooled.with_variables(PENSTOCK_LISTEN_URL=pgbouncer.url(RUNTIME))
    checks = {check["check"]: check for check in wrong("doctor", "--json").json["checks"]}
    assert checks["listen"]["status"] == "fail"
    assert "PENSTOCK_LISTEN_URL" in checks["listen"]["remedy"]
