"""The oldest Postgres we promise to run on: the core tests once more, on Debian's PostgreSQL 15."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.plain_server import DEBIAN_15
from tests.plugins.server import PROGRAMS

ROOT = Path(__file__).parents[2]
QUEUE = ("tests/sql/test_leases.py", "tests/sql/test_enqueue.py", "tests/sql/test_failure.py")
ROLES = (
    "tests/security/test_row_security.py",
    "tests/integration/test_owners.py",
    "tests/sql/test_grants.py",
)
DOCUMENTS = (
    "tests/sql/test_search_ranking.py",
    "tests/sql/test_document_moves.py",
    "tests/sql/test_index_staging.py",
)


def run_on_15(*tests: str) -> None:
    if os.environ.get(PROGRAMS):
        pytest.skip(f"{PROGRAMS} says already which Postgres all tests run on")
    if not (DEBIAN_15 / "bin" / "postgres").exists():
        pytest.skip("no PostgreSQL 15 here; as root: apt-get install postgresql-15")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-x", *tests],
        cwd=ROOT,
        env={**os.environ, PROGRAMS: str(DEBIAN_15), "PYTEST_XDIST_TESTRUNUID": f"fifteen-{os.getpid()}"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4_000:]


@pytest.mark.timeout(520)
def test_queue_and_row_security_hold_on_postgres_15() -> None:
    run_on_15(*QUEUE, *ROLES)


@pytest.mark.timeout(520)
def test_documents_are_indexed_and_found_on_postgres_15() -> None:
    if not (Path("/usr/share/postgresql/15/extension") / "vector.control").exists():
        pytest.skip("no pgvector for PostgreSQL 15 here; as root: apt-get install postgresql-15-pgvector")
    run_on_15(*DOCUMENTS)
