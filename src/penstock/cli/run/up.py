"""`penstock up`: runs Postgres, the API and a worker with one command."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from penstock.accounts import Accounts
from penstock.cli import output
from penstock.cli.failures import warn
from penstock.cli.run.answering import HttpAnswers, silent_after
from penstock.cli.run.supervisor import Child, Supervised, Supervisor
from penstock.cli.run.up_checks import (
    assert_console_is_local,
    assert_index_is_shared,
    assert_port_free,
    note_address,
    only_one,
    unreachable,
)
from penstock.cli.session import database
from penstock.cli.tenant_session import DEFAULT
from penstock.db.addresses import Addresses, prepare
from penstock.db.migrator import assert_migrated
from penstock.db.reach import reach, reaching
from penstock.engine.operator_access import made_tenant, may_make_default, operators
from penstock.errors import DatabaseUnreachable, NotFound
from penstock.observe import configure
from penstock.settings import Settings

Host = Annotated[str | None, typer.Option(help="Address to listen on. Default: PENSTOCK_API_HOST.")]
Port = Annotated[
    int | None,
    typer.Option(
        min=0, max=65_535, help="Port to listen on; 0 picks a free one. Default: PENSTOCK_API_PORT."
    ),
]
Concurrency = Annotated[int | None, typer.Option(min=1, max=1_000, help="Documents processed at once.")]
NoWorker = Annotated[bool, typer.Option("--no-worker", help="Run only Postgres and the API.")]


def command(
    host: Host = None,
    port: Port = None,
    concurrency: Concurrency = None,
    no_worker: NoWorker = False,
    as_json: output.AsJson = False,
) -> None:
    """Start Postgres, the API and a worker, and keep them running.

    The first run creates the tenant "default" and prints its API key, which is shown only once. A process
    that dies is restarted. Ctrl-C stops the API, then the worker, then Postgres. With --json it prints one
    document per line.
    """
    settings = Settings()
    configure("debug" if settings.log_level == "debug" else "warning", settings.log_format)
    commands = [_api(settings, host, port)] + ([] if no_worker else [_worker(concurrency)])
    assert_index_is_shared(settings, len(commands))
    assert_console_is_local(settings, host or settings.api_host)
    with only_one(settings.data_dir) as told:
        assert_port_free(host or settings.api_host, settings.api_port if port is None else port)
        done = asyncio.run(_keep(settings, commands, told, as_json=as_json))
    if as_json:
        output.document(
            {"event": "stopped", "restarts": done.restarts, "exit_code": done.exit_code}, one_line=True
        )
    raise typer.Exit(done.exit_code)


def _api(settings: Settings, host: str | None, port: int | None) -> list[str]:
    address = host or settings.api_host, str(settings.api_port if port is None else port)
    return ["api", "--host", address[0], "--port", address[1], "--json"]


def _worker(concurrency: int | None) -> list[str]:
    return ["worker", "--json", *([] if concurrency is None else ["--concurrency", str(concurrency)])]


async def _keep(settings: Settings, commands: list[list[str]], told: Path, *, as_json: bool) -> Supervised:
    async with database(settings, create=True) as addresses:
        try:
            secret = await _ready(addresses, settings)
        except DatabaseUnreachable as error:
            raise unreachable(settings, error) from error
        if not as_json:
            starting = "the API is" if len(commands) == 1 else "the API and the worker are"
            warn(f"Postgres is running; {starting} starting …")
        # Successes are in the timelines; they are shown here only if asked for.
        variables = {} if "log_level" in settings.model_fields_set else {"PENSTOCK_LOG_LEVEL": "warning"}
        announced = _Announced(settings, addresses, secret, told, as_json=as_json)
        children = [
            Child("api", words, announced.api_said, variables, announced.api_answers)
            if words[0] == "api"
            else Child(words[0], words, _unheard, variables)
            for words in commands
        ]
        silent_seconds = silent_after(settings.stall_seconds)
        supervisor = Supervisor(
            silent_seconds, settings.grace_seconds, in_order=True, restarted=announced.restarted
        )
        return await supervisor.run(children)


def _unheard(_: str) -> None:
    """Ignore the worker's final count."""


async def _ready(addresses: Addresses, settings: Settings) -> str | None:
    """Migrate our own server, or check that the other one is migrated; create an API key on the first run."""
    with reaching(addresses.operator):
        if addresses.embedded is not None:
            await prepare(addresses)
        else:
            async with reach(addresses.operator, application_name="penstock up") as connection:
                await assert_migrated(connection, folders=addresses.folders)
        async with operators(addresses, settings) as accounts:
            return await _first_key(accounts)


async def _first_key(accounts: Accounts) -> str | None:
    try:
        tenant = await accounts.find_tenant(DEFAULT)
    except NotFound:
        if not await may_make_default(accounts):
            return None
        tenant = await made_tenant(accounts, DEFAULT)
    if await accounts.list_keys(tenant.tenant_id):
        return None
    return (await accounts.create_key(tenant.tenant_id, "first run of penstock up", ["admin"])).secret


class _Announced:
    """Prints the API's address once it listens, and every restart."""

    def __init__(
        self, settings: Settings, addresses: Addresses, secret: str | None, told: Path, *, as_json: bool
    ) -> None:
        self._data = str(settings.data_dir.absolute())
        self._own = addresses.embedded is not None
        self._prefix = settings.api_prefix or ""
        open_to_all = settings.console_auth == "off"
        self._how = "(no sign-in)" if open_to_all else "(to sign in, run: penstock login)"
        self._secret = secret
        self._told = told
        self._as_json = as_json
        self.api_answers = HttpAnswers()

    def api_said(self, line: str) -> None:
        url = json.loads(line)["url"]
        self.api_answers.url = url
        note_address(self._told, url)
        secret, self._secret = self._secret, None
        if self._as_json:
            output.document(
                {
                    "event": "listening",
                    "url": url,
                    "tenant": DEFAULT if self._own or secret is not None else None,
                    "api_key": secret,
                    "data_dir": self._data,
                    "embedded": self._own,
                },
                one_line=True,
            )
            return
        output.write(f"Penstock is running: {url} (documentation: {url}/docs, for AI assistants: {url}/mcp)")
        where = "" if self._own else ", and the database of PENSTOCK_DATABASE_URL"
        output.write(f"Data: {self._data}{where}")
        if secret is not None:
            output.write(f"API key of tenant {DEFAULT}: {secret}")
            output.write("Keep it: it is shown only once. To create another: penstock tenant key create")
        output.write(f"Console: {url}{self._prefix} {self._how}")
        output.write("Press Ctrl-C to stop.")

    def restarted(self, child: Child, code: int) -> None:
        if self._as_json:
            output.document({"event": "restarted", "process": child.name, "exit_code": code}, one_line=True)
        else:
            warn(f"The {child.name} exited with {code} and is being restarted.")
