"""A program that has imported what its processes need and forks one for each request.

It is started by its path, so that nothing of the tests can be imported in the processes it forks. They differ
from fresh ones only in what is imported: tests/contract/test_forked_commands.py and test_forked_children.py.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import time
import types
import warnings
from pathlib import Path
from typing import Any

MADV_COLLAPSE = 25
LARGE_PAGE = 2 << 20


def import_commands() -> None:
    """What any command imports: everything but what tests and children use."""
    others = ("penstock.__main__", "penstock.embed.local.", "penstock.simulators", "penstock.testing")
    package = importlib.import_module("penstock")
    for found in pkgutil.walk_packages(package.__path__, "penstock."):
        if not found.name.startswith(others):
            importlib.import_module(found.name)
    for name in ("asyncio", "boto3", "encodings.idna", "rich", "s3transfer.manager", "uvloop"):
        importlib.import_module(name)


def load_embedder() -> None:
    """What the child with wordllama does before its first text, the reading of the model included."""
    tokens = importlib.import_module("penstock.embed.tokens")
    module: Any = importlib.import_module("penstock.embed.local.wordllama_model")
    for name in ("penstock.embed.local.serving", "penstock.embed.local.cores", "penstock.sandbox.confine"):
        importlib.import_module(name)
    folder, load = tokens.wordllama_folder(), module.WordLlama
    loaded = load(folder)
    module.WordLlama = lambda asked: loaded if asked == folder else load(asked)


def load_parser() -> None:
    """What a parser does before its first file of text, and before it counts tokens."""
    importlib.import_module("penstock.sandbox.child")
    importlib.import_module("penstock.pipeline.parse.in_child").load_reader("text/plain")
    importlib.import_module("penstock.pipeline.chunk.in_child")
    importlib.import_module("penstock.embed.tokens").counter("llama")


PREPARE = {"commands": import_commands, "embedder": load_embedder, "parser": load_parser}


def serve(requests: socket.socket) -> dict[str, Any]:
    """Fork for each request and answer with the process id; the forked process returns what to run."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1 << 20, 16)
        if not message:
            sys.exit(0)
        request: dict[str, Any] = json.loads(message)
        reader, writer = os.pipe()
        # The process in between ends at once: then our own parent adopts the command and can wait for it.
        if (between := os.fork()) == 0:
            if (command := os.fork()) == 0:
                requests.detach()
                become(request, descriptors)
                return request
            os.write(writer, f"{command}".encode())
            os._exit(0)
        os.close(writer)
        for descriptor in descriptors:
            os.close(descriptor)
        os.waitpid(between, 0)
        requests.send(os.read(reader, 32))
        os.close(reader)


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Make this process what a fresh interpreter with these arguments would be before its first line."""
    if request["new_session"]:
        os.setsid()
    _put_at(request["descriptors"], descriptors)
    if not request["ignores_ctrl_c"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, request["blocked_signals"])
    os.umask(request["umask"])
    coerced = {"LC_CTYPE": os.environ["LC_CTYPE"]} if "LC_CTYPE" in os.environ else {}
    os.environ.clear()
    os.environ.update(coerced | request["variables"])
    time.tzset()
    os.chdir(request["folder"])
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()
    sys.argv = [request["mode"], *request["words"]]
    sys.orig_argv = [
        sys.executable,
        *request["flags"],
        request["mode"],
        request["program"],
        *request["words"],
    ]
    sys.stdin = sys.__stdin__ = _stream(0, "r", sys.stdin)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w", sys.stdout)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", sys.stderr)  # type: ignore[misc]
    while os.getppid() != request["parent"]:  # not adopted yet
        time.sleep(0.0002)


def use_large_pages() -> None:
    """Put our memory into pages of 2 MB, of which a fork copies one entry instead of 512."""
    libc = ctypes.CDLL(None)
    for line in Path("/proc/self/maps").read_text().splitlines():
        places, rights, _, _, inode, *_ = line.split()
        if rights != "rw-p" or inode != "0":
            continue
        first, last = (int(each, 16) for each in places.split("-"))
        first, last = -(-first // LARGE_PAGE) * LARGE_PAGE, last // LARGE_PAGE * LARGE_PAGE
        if first < last:
            # Where the kernel has none, everything stays as it was.
            libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), MADV_COLLAPSE)


def leave(code: int) -> None:
    """End as an interpreter does, but without taking apart all the modules, which takes longer."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()  # an error here is told on the usual way out
    sys.stderr.flush()
    os._exit(code)


def _put_at(numbers: list[int], descriptors: list[int]) -> None:
    """Give the descriptors these numbers and close all others."""
    kept = [fcntl.fcntl(each, fcntl.F_DUPFD, max(numbers) + 1) for each in descriptors]
    for number, descriptor in zip(numbers, kept, strict=True):
        os.dup2(descriptor, number)
    first = 0
    for number in [*sorted(numbers), max(1024, *kept) + 1]:
        if first < number:  # an empty range would be all of them
            os.closerange(first, number)
        first = number + 1


def run(mode: str, program: str) -> None:
    """The module after -m or the text after -c, as the main one."""
    if mode == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        main_module = types.ModuleType("__main__")
        sys.modules["__main__"] = main_module
        exec(program, vars(main_module))  # noqa: S102 (what a fresh interpreter does with it)


def _stream(number: int, mode: str, like: Any) -> Any:
    """A standard stream on its descriptor, as an interpreter makes it at its start."""
    stream: Any = open(  # noqa: SIM115 (open as long as the process)
        number, mode, encoding=like.encoding, errors=like.errors, newline="\n", closefd=False
    )
    stream.reconfigure(line_buffering=number == 2 or stream.isatty())
    stream.buffer.raw.name = like.name
    return stream


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then closes our socket
    variables = dict(os.environ)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy would start threads
    filters = warnings.filters[:]
    gc.disable()  # nothing that is imported is garbage
    PREPARE[sys.argv[2]]()
    assert threading.active_count() == len(os.listdir("/proc/self/task")) == 1, "a fork would lose threads"
    warnings.filters[:] = filters  # type: ignore[index]
    os.environ.clear()
    os.environ.update(variables)
    gc.freeze()
    gc.enable()
    use_large_pages()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # until the forked process has its handler
    requests = socket.socket(fileno=int(sys.argv[1]))
    request = serve(requests)
    try:
        run(request["mode"], request["program"])
    except SystemExit as ended:
        if isinstance(ended.code, int):
            leave(ended.code)
        raise


if __name__ == "__main__":
    main()
