"""docs/quickstart.md, followed word for word on a Postgres of the reader's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.plugins.plain_server import DEBIAN_15, PlainServer, plain_server_of, wheel_programs

PAGE = Path(__file__).parents[2] / "docs" / "quickstart.md"
BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.timeout(300)

PASSWORD = "s3cret"
TEXT = "The supplier pays a penalty of two percent when the delivery is late.\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One block of the section: what kind of text, and the text."""

    kind: str
    text: str


def steps() -> list[Step]:
    section = PAGE.read_text().split("## Your own Postgres")[1]
    return [
        Step(kind, "".join(f"{line.strip()}\n" for line in text.splitlines()))
        for kind, text in BLOCK.findall(section)
    ]


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who does what the page says, in a folder of their own."""

    server: PlainServer
    folder: Path

    def sql(self, step: Step, *, user: str = "postgres", database: str = "postgres") -> None:
        assert step.kind == "sql"
        secret = {} if user == "postgres" else {"password": PASSWORD}
        self.server.psql(step.text.replace("…", PASSWORD), user=user, database=database, **secret)

    def settings(self, step: Step) -> None:
        assert step.kind == "sh"
        there = f"127.0.0.1:{self.server.port}"
        text = step.text.replace("…", PASSWORD).replace("db.internal", there)
        (self.folder / ".env").write_text(text + "PENSTOCK_API_PORT=0\n")  # 8000 may be taken here

    def types(self, line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        programs = Path(sys.executable).parent
        return {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.folder)}

    @contextmanager
    def keeps_running(self, line: str) -> Iterator[None]:
        with subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line}"],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                said = []
                for said_line in process.stdout:
                    said.append(said_line)
                    if said_line.startswith("Penstock is running"):
                        break
                assert process.poll() is None, "".join(said)
                yield
            finally:
                process.terminate()
                try:
                    process.communicate(timeout=60)
                finally:
                    process.kill()  # or leaving the block waits for it without end


def commands(step: Step) -> list[str]:
    assert step.kind == "console"
    return [line.removeprefix("$ ") for line in step.text.splitlines()]


@pytest.fixture(params=["wheel", "15"])
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reader]:
    install = wheel_programs() if request.param == "wheel" else DEBIAN_15
    if not (install / "bin" / "postgres").exists():
        pytest.skip("no PostgreSQL 15 here; as root: apt-get install postgresql-15")
    contracts = tmp_path / "Documents" / "contracts"
    contracts.mkdir(parents=True)
    (contracts / "supply.txt").write_text(TEXT)
    with plain_server_of(install) as server:
        yield Reader(server, tmp_path)


def has_pgvector(server: PlainServer) -> bool:
    found = "select count(*) from pg_available_extensions where name = 'vector'"
    return server.psql(found, database="postgres") == "1"


def test_the_page_ends_with_indexed_documents(reader: Reader) -> None:
    if not has_pgvector(reader.server):
        pytest.skip("no pgvector for PostgreSQL 15 here; as root: apt-get install postgresql-15-pgvector")
    first, addresses, migrate, logins, tenant, up, use = steps()
    reader.sql(first)
    reader.settings(addresses)
    for line in commands(migrate):
        migrated = reader.types(line)
        assert (migrated.returncode, migrated.stderr) == (0, "")
    reader.sql(logins, user="shop_owner", database="shop")
    for line in commands(tenant):
        made = reader.types(line)
        assert made.returncode == 0, made.stderr
        assert re.search(r"^api_key: pk_\S+$", made.stdout, re.MULTILINE)
    ingest, search = commands(use)
    with reader.keeps_running(*commands(up)):
        taken = reader.types(ingest)
        assert taken.returncode == 0, taken.stderr
        found = reader.types(search)
    assert found.returncode == 0, found.stderr
    assert "penalty of two percent" in found.stdout


def test_without_pgvector_one_line_says_what_a_superuser_runs_and_the_next_migrate_completes_it(
    reader: Reader,
) -> None:
    first, addresses, migrate, logins, tenant, up, use = steps()
    without = Step("sql", first.text.split("\\connect")[0])
    reader.sql(without)
    reader.settings(addresses)
    migrated = reader.types(*commands(migrate))
    assert migrated.returncode == 0, migrated.stderr
    warned = migrated.stderr.splitlines()
    assert len(warned) == 1
    assert "create extension vector" in warned[0]
    assert "psql -d shop" in warned[0]
    reader.sql(logins, user="shop_owner", database="shop")
    assert reader.types(*commands(tenant)).returncode == 0
    refused = reader.types(commands(use)[0])
    assert refused.returncode == 1
    assert "create extension vector" in refused.stderr.splitlines()[-1]
    if not has_pgvector(reader.server):
        assert "apt install postgresql-15-pgvector" in warned[0]
        return
    with reader.keeps_running(*commands(up)):
        # A key was made for the tenant shop, so nothing but the extension is in the way.
        waiting = reader.types("penstock doctor --json")
        checks = {check["check"]: check for check in json.loads(waiting.stdout)["checks"]}
        assert "create extension vector" in checks["vectors"]["remedy"]
        statement = re.search(r"-c '(.*?)'", warned[0])
        assert statement is not None
        reader.server.psql(statement[1], database="shop")
        again = reader.types(*commands(migrate))
        assert (again.returncode, again.stderr) == (0, "")
        taken = reader.types(commands(use)[0])
        assert taken.returncode == 0, taken.stderr
        assert "penalty of two percent" in reader.types(commands(use)[1]).stdout


def test_the_next_start_also_completes_the_schema(reader: Reader) -> None:
    if not has_pgvector(reader.server):
        pytest.skip("no pgvector for PostgreSQL 15 here; as root: apt-get install postgresql-15-pgvector")
    first, addresses, migrate, logins, tenant, *_ = steps()
    reader.sql(Step("sql", first.text.split("\\connect")[0]))
    reader.settings(addresses)
    reader.types(*commands(migrate))
    reader.sql(logins, user="shop_owner", database="shop")
    reader.types(*commands(tenant))
    reader.server.psql("create extension vector", database="shop")
    taken = reader.types("penstock ingest ~/Documents/contracts --tenant shop --worker")
    assert taken.returncode == 0, taken.stderr
    check = reader.types("penstock migrate --check")
    assert check.returncode == 0, check.stdout
