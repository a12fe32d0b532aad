"""Compiles the test modules once, before the workers of a run start: each of them would compile them all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import assertstate_key

TESTS = Path(__file__).parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    files = [
        *TESTS.rglob("test_*.py"),
        *TESTS.rglob("conftest.py"),
        *(TESTS / "plugins").glob("*.py"),
    ]
    changed = [file for file in files if rewrite._read_pyc(file, _compiled(file)) is None]
    share = os.cpu_count() or 1
    children = [_compile_in_child(changed[number::share], config) for number in range(share)]
    for child in children:
        os.waitpid(child, 0)  # what it did not compile a worker compiles


def _compiled(file: Path) -> Path:
    return rewrite.get_cache_dir(file) / f"{file.stem}{rewrite.PYC_TAIL}"


def _compile_in_child(files: Sequence[Path], config: pytest.Config) -> int:
    if (child := os.fork()) != 0:
        return child
    code = 1
    try:
        for file in files:
            rewrite.try_makedirs(_compiled(file).parent)
            source_hash, compiled = rewrite._rewrite_test(file, config)
            rewrite._write_pyc(config.stash[assertstate_key], compiled, source_hash, _compiled(file))
        code = 0
    finally:
        os._exit(code)
