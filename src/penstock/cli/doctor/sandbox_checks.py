"""Checks which kernel protections isolate parsers on this machine."""

from __future__ import annotations

import os

from penstock.cli.doctor.checks import Check
from penstock.errors import PenstockError
from penstock.sandbox import Layers, Sandbox
from penstock.sandbox.confine import THREADS, counts_per_namespace

_MEMORY_MB = 256


async def check_sandbox() -> Check:
    """Start a sandbox and ask it."""
    sandbox = Sandbox(1, memory_mb=_MEMORY_MB)
    try:
        await sandbox.start()
        layers = sandbox.layers
    except (PenstockError, OSError) as error:
        return Check(
            "sandbox",
            "fail",
            f"the sandbox does not start: {error}",
            ("Run the worker where it may start processes"),
        )
    finally:
        await sandbox.close()
    return describe(layers, root=os.geteuid() == 0)


def describe(layers: Layers, *, root: bool) -> Check:
    """Which protections are active, and what is at risk without the others."""
    held = [
        f"Landlock ABI {layers.landlock}" if layers.landlock else "",
        "seccomp" if layers.seccomp else "",
        "namespaces" if layers.namespaces else "",
        f"at most {THREADS} threads and processes" if layers.users else "",
        "an unprivileged user" if layers.unprivileged else "",
    ]
    message = f"around each parser: {', '.join(filter(None, held)) or 'limits of time and memory only'}"
    lost = [
        ""
        if layers.landlock
        else "without Landlock a compromised parser can read and write every file of its user",
        ""
        if layers.seccomp
        else (
            "without seccomp it can start processes, open sockets and change the modes of its user's files"
        ),
        "" if layers.namespaces else "without namespaces it can see this machine's processes",
        ""
        if layers.users
        else "without a user namespace for each file it can start threads until this machine has no more",
        "" if layers.unprivileged else "it runs as root",
    ]
    if not any(lost):
        return Check("sandbox", "ok", message)
    return Check("sandbox", "warn", f"{message}; {'; '.join(filter(None, lost))}", _remedy(layers, root=root))


def _remedy(layers: Layers, *, root: bool) -> str:
    if not layers.landlock:
        return (
            "Use Linux 5.13 or newer with landlock in /sys/kernel/security/lsm, and allow it in the container"
        )
    if root and not (layers.unprivileged and layers.users):
        return "Run the worker as its own user instead of root, with Python where that user can read it"
    if layers.seccomp and layers.namespaces and not counts_per_namespace():
        return "Use Linux 5.14 or newer, where a limit of threads counts for each file alone"
    return "Allow seccomp and user namespaces in the container or the kernel (user.max_user_namespaces)"
