"""A command imports only what it uses, so that it starts quickly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugins.command_line import CommandLine

SERVERS = {"fastapi", "starlette", "uvicorn", "mcp"}
PARSERS = {"onnxruntime", "pypdfium2", "pptx", "tokenizers", "wordllama", "xberg"}
CLOUDS = {"aiosmtplib", "httpx2", "qdrant_client"}
OTHERS = {"croniter", "cryptography", "numpy", "prometheus_client", "pydantic_settings", "rich", "uvloop"}
EVERYTHING = SERVERS | PARSERS | CLOUDS | OTHERS
ALONE = {"importlib.metadata", "penstock.sql.file_rules"}
LOOKING = EVERYTHING | ALONE | {"obstore", "pydantic"}
"""What a command that only reads rows does without; pydantic alone takes 0.09 s, obstore 0.01 s, and the
patterns that files of SQL are checked with 0.01 s."""

REPORT = """
import sys
from penstock.cli import main
sys.argv[0] = "penstock"
code = main()
alone = {"importlib.metadata", "penstock.sql.file_rules"}
names = {name.partition(".")[0] for name in sys.modules} | (alone & sys.modules.keys())
print("modules:", *sorted(names), file=sys.stderr)
sys.exit(code)
"""
PROCESSOR = """
import resource, subprocess, sys
def spent(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
libraries = [sys.executable, "-c", "import asyncpg, pydantic, typer; from pydantic import BaseModel"]
command = [sys.executable, "-m", "penstock", "document", "list"]
spent(command), spent(libraries)  # they write their bytecode
pairs = [(spent(command), spent(libraries)) for _ in range(5)]
print(min(ours for ours, _ in pairs) / min(theirs for _, theirs in pairs))
"""


def modules_of(penstock: CommandLine, *words: str) -> set[str]:
    ended = penstock.python("-c", REPORT, *words)
    line = ended.err.strip().splitlines()[-1]
    assert (ended.code, line[:8]) == (0, "modules:"), ended.err
    return set(line.split()[1:])


@pytest.fixture
def shop(penstock: CommandLine) -> CommandLine:
    assert penstock("tenant", "create", "default").code == 0
    return penstock


@pytest.mark.parametrize(
    "words", ["--help", "queue stats", "task list --queue default --limit 5", "dead list", "db url"]
)
def test_a_queue_command_imports_nothing_about_documents(words: str, penstock: CommandLine) -> None:
    assert modules_of(penstock, *words.split()) & LOOKING == set()


@pytest.mark.parametrize(
    "words",
    [
        "document list",
        "document list --json --status failed",
        "tenant list",
        "project list",
        "schedule list",
        "process list",
    ],
)
def test_a_command_that_only_reads_imports_no_server_parser_model_or_cloud_client(
    words: str, shop: CommandLine
) -> None:
    assert modules_of(shop, *words.split()) & LOOKING == set()


def test_a_search_imports_its_model_in_a_child_and_no_server_or_parser(shop: CommandLine) -> None:
    elsewhere = (SERVERS | PARSERS | {"rich"}) - {"tokenizers"}
    assert modules_of(shop, "search", "gate", "--mode", "text") & elsewhere == set()


def test_a_worker_imports_no_server(shop: CommandLine) -> None:
    worker = modules_of(shop, "worker", "--until-empty")
    assert (
        worker & (SERVERS | {"onnxruntime", "pypdfium2", "pptx", "xberg", "rich", "qdrant_client"}) == set()
    )


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import penstock.sandbox.child", EVERYTHING | {"asyncpg", "asyncio", "typer"}),
        (
            "import penstock.embed.local.child",
            EVERYTHING - {"numpy"} | {"asyncpg", "pydantic", "typer"},
        ),
        (
            "from penstock import api; from penstock.engine.engine import Engine; api.create_app(Engine())",
            PARSERS | {"mcp", "qdrant_client", "typer"},
        ),
    ],
    ids=["sandbox", "embedder", "api"],
)
def test_a_child_process_imports_only_its_own_part(code: str, heavy: set[str], penstock: CommandLine) -> None:
    told = "; import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    ended = penstock.python("-c", code + told)
    assert ended.code == 0, ended.err
    assert set(ended.out.split()) & heavy == set()


def test_listing_documents_takes_at_most_0_35_s_of_processor(shop: CommandLine, tmp_path: Path) -> None:
    """Measured against the import of Typer, asyncpg and pydantic, 0.25 s on a quiet machine.

    A busy machine stretches both sides alike.
    """
    bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    ended = shop.with_variables(**bytecode).python("-c", PROCESSOR, timeout=110)
    assert ended.code == 0, ended.err
    assert float(ended.out) < 0.35 / 0.25


def test_a_package_lists_exactly_the_names_it_loads() -> None:
    code = """
import importlib, pkgutil, penstock
for found in pkgutil.walk_packages(penstock.__path__, "penstock."):
    if found.ispkg:
        package = importlib.import_module(found.name)
        for name in getattr(package, "__all__", ()):
            getattr(package, name)
            assert name in dir(package), (found.name, name)
"""
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
