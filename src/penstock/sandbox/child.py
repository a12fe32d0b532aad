"""The child's side: an outer process, and a server in its own namespaces that forks for each call."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import sysconfig
from dataclasses import asdict
from typing import Any, NoReturn

from penstock.sandbox import confine, namespaces
from penstock.sandbox.calls import arguments, found
from penstock.sandbox.clean import end_all_others
from penstock.sandbox.frames import ENDED, HEADER, MOST_FILES, READY, Greeting, Request
from penstock.sandbox.landlock import readable_folders
from penstock.sandbox.one_call import SandboxCall, run_and_exit
from penstock.sandbox.syscalls import LINUX
from penstock.sandbox.trial import holds, layers_that_hold

_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_DATA = ("/usr/share/zoneinfo", "/usr/share/fonts", "/etc/fonts", "/etc/mime.types", "/etc/localtime")
_PROCESSORS = "/sys/devices/system/cpu"


def main(descriptor: int, parent: int) -> None:
    confine.stand_back()
    confine.limit_process()
    line = socket.socket(fileno=descriptor)
    greeting = _greeting(_received(line)[0])
    namespaced = LINUX and "namespaces" not in greeting.left_out and holds(namespaces.enter)
    if namespaced:
        namespaces.enter()
    confine.die_with(parent)
    if namespaced:
        _keep(line)
        confine.die_with_parent()
    confine.adopt_orphans()
    _Server(line, greeting, namespaced=namespaced).serve()


def _greeting(body: dict[str, Any]) -> Greeting:
    user = body.pop("user")
    return Greeting(**body, user=tuple(user) if user else None)


def _keep(line: socket.socket) -> None:
    """Continue as the first process of the new namespaces; the outer one only waits for it."""
    server = os.fork()
    if server:
        line.close()
        code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
        os._exit(code if code >= 0 else 128 - code)


class _Server:
    """Trusted: it never touches a call's input. Each call is a fork that ends with its result."""

    def __init__(self, line: socket.socket, greeting: Greeting, *, namespaced: bool) -> None:
        self._line = line
        self._memory_mb = greeting.memory_mb
        self._user = greeting.user
        self._keeps_reading = greeting.keeps_reading
        for module in greeting.preload:
            importlib.import_module(module)
        self._read = _readable()
        self._layers = layers_that_hold(
            greeting.folder,
            self._read,
            greeting.user,
            keeps_reading=greeting.keeps_reading,
            namespaced=namespaced,
        ).without(tuple(greeting.left_out))
        confine.hide_memory()
        # Imported modules never change in a fork: exclude them from garbage collection.
        gc.collect()
        gc.freeze()
        self._ended, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        _send(self._line, READY, asdict(self._layers))
        while True:
            request, values, descriptors = _request(self._line)
            process = self._started(request, values, descriptors)
            for one in descriptors:
                os.close(one)
            code = self._wait(process)
            end_all_others(namespaced=self._layers.namespaces)
            _send(self._line, ENDED, {"code": code})

    def _started(self, request: Request, values: list[Any], descriptors: list[int]) -> int:
        if request.path and request.path not in sys.path:
            sys.path.append(request.path)
        function = found(request.function)
        given = arguments(function, values)
        if request.prepare is not None:
            with contextlib.suppress(Exception):  # the call will fail with the same error
                found(request.prepare)(given[-1])
            gc.freeze()
        call = SandboxCall(
            function=function,
            arguments=given,
            answers=descriptors[0],
            files=tuple(descriptors[1:]),
            request=request,
            memory_mb=self._memory_mb,
            layers=self._layers,
            read=self._read,
            user=self._user if self._layers.unprivileged else None,
            keeps_reading=self._keeps_reading,
        )
        process = os.fork()
        if process == 0:
            run_and_exit(call)
        return process

    def _wait(self, process: int) -> int:
        """How the call ended; if the parent exits or asks for it meanwhile, everything ends."""
        while True:
            ready, _, _ = select.select([self._line.fileno(), self._ended], [], [])
            if self._line.fileno() in ready:
                os.kill(process, signal.SIGKILL)
                _leave()
            os.read(self._ended, 4_096)
            reaped, status = os.waitpid(process, os.WNOHANG)
            if reaped:
                return os.waitstatus_to_exitcode(status)


def _request(line: socket.socket) -> tuple[Request, list[Any], list[int]]:
    body, descriptors = _received(line)
    values = body.pop("arguments")
    files = iter(descriptors[1:])
    for value in values:
        if isinstance(value, dict) and value.keys() == {"descriptor", "path"}:
            value["descriptor"] = next(files)
    return Request(**body), values, descriptors


def _readable() -> tuple[str, ...]:
    """What a call may read: the interpreter's libraries, the system's, and data for fonts, zones and OCR.

    Never a folder that is only on the path: the data directory may be in it.
    """
    packages = [
        entry
        for entry in sys.path
        if os.path.basename(entry) in ("site-packages", "dist-packages", "lib-dynload")
    ]
    tessdata = os.environ.get("TESSDATA_PREFIX") or os.path.join(sys.prefix, "share", "tessdata")
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return readable_folders([*standard, *packages, own, tessdata, *_LIBRARIES, *_DATA, _PROCESSORS])


def _received(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """One frame from the parent; the process ends if the parent is gone."""
    header, descriptors, _, _ = socket.recv_fds(line, HEADER.size, MOST_FILES + 1)
    if len(header) < HEADER.size:
        _leave()
    _, length = HEADER.unpack(header)
    body = bytearray()
    while len(body) < length:
        piece = line.recv(min(length - len(body), 1 << 20))
        if not piece:
            _leave()
        body += piece
    return json.loads(body), descriptors


def _send(line: socket.socket, kind: int, body: object) -> None:
    packed = json.dumps(body).encode()
    try:
        line.sendall(HEADER.pack(kind, len(packed)) + packed)
    except OSError:
        _leave()


def _leave() -> NoReturn:
    os._exit(0)
