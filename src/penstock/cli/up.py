"""`penstock up`: Postgres, the API and a worker by one command, kept alive until it is stopped."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from penstock.accounts import Accounts
from penstock.cli import output
from penstock.cli.answering import HttpAnswers, silent_after
from penstock.cli.failures import warn
from penstock.cli.product_session import DEFAULT, made_tenant, may_make_default, operators
from penstock.cli.session import database
from penstock.cli.supervisor import Child, Supervised, Supervisor
from penstock.cli.up_checks import (
    assert_index_is_shared,
    assert_port_free,
    note_address,
    only_one,
    unreachable,
)
from penstock.db.addresses import Addresses, prepare
from penstock.db.migrator import assert_migrated
from penstock.db.reach import reach, reaching
from penstock.errors import DatabaseUnreachable, NotFound
from penstock.observe import configure
from penstock.settings import Settings

Host = Annotated[str | None, typer.Option(help="The address to listen on; PENSTOCK_API_HOST without it.")]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, help="The port, 0 for a free one; PENSTOCK_API_PORT without it."),
]
Concurrency = Annotated[int | None, typer.Option(min=1, max=1_000, help="Documents at once.")]
NoWorker = Annotated[bool, typer.Option("--no-worker", help="Only Postgres and the API.")]


def command(
    host: Host = None,
    port: Port = None,
    concurrency: Concurrency = None,
    no_worker: NoWorker = False,
    as_json: output.AsJson = False,
) -> None:
    """Start Postgres, the API and a worker, and keep them running.

    The first time it makes the tenant "default" and prints its API key, once. A process that dies is started
    again. Ctrl-C stops the API, then the worker, then Postgres. With --json it prints one document a line.
    """
    settings = Settings()
    configure("debug" if settings.log_level == "debug" else "warning", settings.log_format)
    commands = [_api(settings, host, port)] + ([] if no_worker else [_worker(concurrency)])
    assert_index_is_shared(settings, len(commands))
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
            warn(f"Postgres answers; {starting} starting …")
        # What goes well is in the timelines; unless asked for it is not shown here.
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
    """The worker's count at its end is of no interest here."""


async def _ready(addresses: Addresses, settings: Settings) -> str | None:
    """Migrate our own server, or see that the other one is; a key for its first user on the first run."""
    with reaching(addresses.operator):
        if addresses.embedded is not None:
            await prepare(addresses)
        else:
            async with reach(addresses.operator, application_name="penstock up") as connection:
                await assert_migrated(connection)
        async with operators(addresses, settings) as accounts:
            return await _first_key(accounts, addresses)


async def _first_key(accounts: Accounts, addresses: Addresses) -> str | None:
    try:
        tenant = await accounts.find_tenant(DEFAULT)
    except NotFound:
        if not await may_make_default(addresses, accounts):
            return None
        tenant = await made_tenant(accounts, DEFAULT)
    if await accounts.list_keys(tenant.tenant_id):
        return None
    return (await accounts.create_key(tenant.tenant_id, "first run of penstock up", ["admin"])).secret


class _Announced:
    """Tells where the API is once it listens, and whatever restarts."""

    def __init__(
        self, settings: Settings, addresses: Addresses, secret: str | None, told: Path, *, as_json: bool
    ) -> None:
        self._data = str(settings.data_dir.absolute())
        self._own = addresses.embedded is not None
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
        output.write(f"Penstock is up: {url} (its description: {url}/docs, for assistants: {url}/mcp)")
        where = "" if self._own else ", and the database of PENSTOCK_DATABASE_URL"
        output.write(f"Data: {self._data}{where}")
        if secret is not None:
            output.write(f"API key of tenant {DEFAULT}: {secret}")
            output.write("Keep it: it is shown only now. penstock tenant key create makes another.")
        output.write("Ctrl-C stops it.")

    def restarted(self, child: Child, code: int) -> None:
        if self._as_json:
            output.document({"event": "restarted", "process": child.name, "exit_code": code}, one_line=True)
        else:
            warn(f"The {child.name} ended with {code} and is started again.")
