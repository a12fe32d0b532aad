"""Tests each layer once in its own process, so that no call has to find out."""

from __future__ import annotations

import os
from collections.abc import Callable

from penstock.sandbox import confine, landlock, namespaces, seccomp
from penstock.sandbox.layers import Layers
from penstock.sandbox.syscalls import LINUX


def holds(step: Callable[[], None]) -> bool:
    """Whether a step succeeds, tested in a child so that its effects stay there."""
    pid = os.fork()
    if pid == 0:
        try:
            step()
        except BaseException:  # noqa: BLE001  # any error means that the layer does not work
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def layers_that_hold(
    folder: str,
    read: tuple[str, ...],
    user: tuple[int, int] | None,
    *,
    keeps_reading: bool,
    namespaced: bool,
) -> Layers:
    """The layers this machine supports, each tested the way a call will use it."""
    if not LINUX:
        return Layers(unprivileged=os.geteuid() != 0)

    def become() -> None:
        if user is not None:
            namespaces.become(*user, keeps_reading=keeps_reading)

    def count_alone() -> None:
        become()
        namespaces.count_alone()

    def restrict() -> None:
        become()
        landlock.restrict(abi, read, folder, ())

    abi = landlock.version()
    landlocked = abi > 0 and holds(restrict)
    return Layers(
        landlock=abi if landlocked else 0,
        seccomp=seccomp.known_here() and holds(lambda: seccomp.refuse_calls(truncate=True)),
        namespaces=namespaced,
        # In its own user namespace, the capability to read root's folders would be void.
        users=not keeps_reading and confine.counts_per_namespace() and holds(count_alone),
        unprivileged=os.geteuid() != 0
        or (user is not None and (landlocked or not keeps_reading) and holds(become)),
    )
