"""What doctor says of the sandbox: which of the kernel's means hold around a parser on this machine."""

from __future__ import annotations

import os

from penstock.cli.checks import Check
from penstock.errors import PenstockError
from penstock.sandbox import Layers, Sandbox

_MEMORY_MB = 256


async def check_sandbox() -> Check:
    """Start one and ask it."""
    sandbox = Sandbox(1, memory_mb=_MEMORY_MB)
    try:
        await sandbox.start()
        layers = sandbox.layers
    except (PenstockError, OSError) as error:
        return Check(
            "sandbox", "fail", f"it does not start: {error}", "Run the worker where it may start processes"
        )
    finally:
        await sandbox.close()
    return describe(layers, root=os.geteuid() == 0)


def describe(layers: Layers, *, root: bool) -> Check:
    """What holds, and what is lost where something does not."""
    held = [
        f"Landlock ABI {layers.landlock}" if layers.landlock else "",
        "seccomp" if layers.seccomp else "",
        "namespaces" if layers.namespaces else "",
        "an unprivileged user" if layers.unprivileged else "",
    ]
    message = f"around each parser: {', '.join(filter(None, held)) or 'limits of time and memory only'}"
    lost = [
        ""
        if layers.landlock
        else "without Landlock a parser that is taken over reads and writes every file its user can",
        ""
        if layers.seccomp
        else "without seccomp it can start processes, open sockets and change modes of its user's files",
        "" if layers.namespaces else "without namespaces it sees this machine's processes",
        "" if layers.unprivileged else "it runs as root",
    ]
    if not any(lost):
        return Check("sandbox", "ok", message)
    return Check("sandbox", "warn", f"{message}; {'; '.join(filter(None, lost))}", _remedy(layers, root=root))


def _remedy(layers: Layers, *, root: bool) -> str:
    if not layers.landlock:
        return (
            "Use Linux 5.13 or newer with landlock in /sys/kernel/security/lsm, and let the container call it"
        )
    if not layers.unprivileged and root:
        return "Run the worker as a user of its own instead of root"
    return "Let the container or the kernel allow seccomp and user namespaces (user.max_user_namespaces)"
