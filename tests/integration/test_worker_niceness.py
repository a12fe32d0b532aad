"""A worker of documents stands back when the processors are busy, and its parsers and models further."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.test_cli_worker import until, until_alive
from tests.plugins.busy import stretched
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

PARSERS_START_SECONDS = 60.0


def session_niceness(process: psutil.Process) -> int | None:
    """Of the group in which the kernel counts the process's session; None if it is in no such group.

    A kernel may have no groups, and a process whose session the kernel itself started is in none.
    """
    try:
        words = Path(f"/proc/{process.pid}/autogroup").read_text().split()
    except FileNotFoundError:
        return None
    return int(words[-1]) if words else None


@pytest.mark.parametrize(
    ("niceness", "of_parsers"), [("5", (10, 10)), ("0", (10, 0))], ids=["by default", "not at all"]
)
async def test_a_worker_of_documents_stands_back_as_far_as_it_is_told(
    penstock: CommandLine, database: Database, niceness: str, of_parsers: tuple[int, int]
) -> None:
    documents = penstock.with_variables(
        PENSTOCK_DATA_DIR="data", PENSTOCK_NICENESS=niceness, PENSTOCK_PARSE_PROCESSES="1"
    )
    (penstock.folder / "gate.md").write_text("The gate opens at six.")
    assert documents("ingest", "gate.md", "--no-wait", "--no-worker").code == 0
    with documents.running("worker", fresh=True) as child:
        await until_alive(database, child, 1)
        worker = psutil.Process(child.pid)
        assert worker.nice() == int(niceness)

        def parsers() -> list[psutil.Process]:
            found = []
            for each in worker.children():
                with suppress(psutil.NoSuchProcess):  # the server from which parsers are forked starts some
                    found += [each] if each.nice() == of_parsers[0] else []
            return found

        # While other tests run, processes that stand back get little of the processors.
        await until(parsers, seconds=PARSERS_START_SECONDS)

        def sessions() -> set[int | None]:
            return {session_niceness(each) for each in parsers()}

        if sessions() != {None}:  # a process stands back first, and then its session
            await until(lambda: sessions() == {of_parsers[1]}, seconds=10)
        child.terminate()
        child.communicate(timeout=stretched(30))


async def test_a_worker_of_an_app_does_not(penstock: CommandLine, database: Database) -> None:
    with penstock.with_variables(PENSTOCK_NICENESS="5").running("worker", "--app", "shop") as child:
        await until_alive(database, child, 1)
        assert psutil.Process(child.pid).nice() == 0
