"""Channels of the user's own: found by entry point or declared by an app, and refused if unusable."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock import Penstock, ProviderFailed, Settings, TaskRun
from penstock.db.migrator import migrate
from penstock.db.sql_folders import read_folder
from penstock.errors import EntryPointFailed, InvalidArgument
from penstock.processes.channels.own import offered_channels, why_no_channel
from penstock.processes.generator import Process, Target, process_files, write
from tests.plugins.database import Database
from tests.sql.document_calls import document_calls
from tests.sql.process_runs import ProcessCalls

GOOD = """
class Channel:
    concurrency = 3
    async def call(self, request, run):
        return {}
"""
BAD = {
    "import no_such_thing": "No module named 'no_such_thing'",
    "1 / 0": "division by zero",
    "Other = 1": "has no attribute 'Channel'",
    "Channel = 1": "it is a int, not a class",
    "class Channel:\n    def call(self, request, run): ...": "async def call",
    "class Channel:\n    def __init__(self, a): ...\n    async def call(self, a, b): ...": "without argum",
    "class Channel:\n    concurrency = 0\n    async def call(self, a, b): ...": "a number from 1",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a package that offers the channel `fax`."""
    offer(tmp_path, "fax")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("fax_channel", None)


def offer(site: Path, name: str, package: str = "fax-package") -> None:
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[penstock.channels]\n{name} = fax_channel:Channel\n")


def test_an_installed_package_offers_a_channel_that_is_imported_when_a_worker_needs_it(site: Path) -> None:
    (site / "fax_channel.py").write_text(GOOD)
    (fax,) = offered_channels()
    assert fax.name == "fax"
    assert "fax_channel" not in sys.modules
    assert fax.concurrency == 3
    assert hasattr(fax.make(), "call")


@pytest.mark.parametrize("text", BAD)
def test_a_class_that_cannot_be_used_as_a_channel_is_reported_with_its_package(site: Path, text: str) -> None:
    (site / "fax_channel.py").write_text(f"{text}\n")
    (fax,) = offered_channels()
    with pytest.raises(EntryPointFailed) as refused:
        fax.make()
    assert BAD[text] in str(refused.value)
    assert (refused.value.name, refused.value.package) == ("fax", "fax-package")
    assert "pip uninstall fax-package" in refused.value.remedy


def test_a_taken_or_invalid_name_is_refused(site: Path) -> None:
    with pytest.raises(EntryPointFailed, match="another channel or task type fax"):
        offered_channels({"fax"})
    offer(site, "fax", "other-package")
    with pytest.raises(EntryPointFailed, match="another channel"):
        offered_channels()
    offer(site, "email", "a-package")
    with pytest.raises(EntryPointFailed, match="Penstock's own"):
        offered_channels()
    app = Penstock(Settings())
    for name in ("email", "Fax", "no-dash"):
        with pytest.raises(InvalidArgument):
            app.channel(name)(offered_channels)  # type: ignore[type-var]  # the name is refused before it
    with pytest.raises(InvalidArgument, match="without arguments"):

        @app.channel("fax")
        class Fax:
            def __init__(self, url: str) -> None: ...
            async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
                return {}


async def test_the_channel_in_the_guide_works() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/own-processes.md").read_text()
    (text,) = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102  # our own page
    channel = names["ChatChannel"]
    assert why_no_channel(channel) is None
    assert await channel().call({"subject": "hello"}, None) == {"said": "hello"}
    with pytest.raises(ProviderFailed):
        await channel().call({}, None)


async def test_an_app_declares_a_channel_by_a_decorator_and_its_worker_makes_the_attempts(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("PENSTOCK_SQL_DIR=sql\n")
    target = Target.at(tmp_path)
    write(tmp_path, process_files(Process.named("send_fax", "mill", "fax"), target))
    folder = read_folder(tmp_path / "sql", "test")
    assert folder is not None
    async with database.connect() as connection:
        await migrate(connection, folders=[folder])

    app = Penstock(Settings(database_url=database.runtime_url))
    asked: list[tuple[Mapping[str, Any], object]] = []
    closed: list[bool] = []

    @app.channel("fax")
    class Fax:
        concurrency = 1

        async def call(self, request: Mapping[str, Any], run: TaskRun) -> Mapping[str, Any]:
            asked.append((request, run.tenant_id))
            if request["subject"] == "wrong number":
                raise ProviderFailed("fax", "wrong number", "Correct it", retriable=False)
            return {"pages": 1}

        async def close(self) -> None:
            closed.append(True)

    async with document_calls(database) as calls, app:
        tenant = await calls.create_tenant("miller")
        process = ProcessCalls(calls, "mill.send_fax")
        for subject in ("hello", "wrong number"):
            assert (await process.kickoff(tenant, subject)).refused is None

        @app.task("db_function", queue="processes")
        async def supervise(payload: dict[str, Any], ctx: Any) -> None:
            from penstock.db.tenancy import TenantPool
            from penstock.processes.db_function import DbFunction

            pool = await TenantPool.open(database.runtime_url, application_name="test", size=1)
            try:
                await DbFunction(pool)(payload, ctx)
            finally:
                await pool.close()

        await app.run_worker(stop_when_empty=True)
        assert {request["subject"] for request, _ in asked} == {"hello", "wrong number"}
        assert {whose for _, whose in asked} == {tenant.tenant_id}
        (done,) = await process.facts("attempt_succeeded")
        assert done["worker_payload"] == '{"pages": 1}'
        (failed,) = await process.facts("attempt_failed")
        assert (failed["retriable"], "wrong number" in failed["error_message"]) == (False, True)
    assert closed == [True]
