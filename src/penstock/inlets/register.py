"""Which module opens which kind of inlet; imported only when one is opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from penstock.errors import InvalidArgument
from penstock.inlets.protocol import AnyInlet, InletRow
from penstock.settings import Settings

FACTORIES: dict[str, str] = {
    "bullmq_postgres": "penstock.inlets.bullmq_postgres",
    "pgmq": "penstock.inlets.pgmq",
    "s3": "penstock.inlets.s3",
    "sqs": "penstock.inlets.sqs",
}
"""Kind to module. The module has `async def open_inlet(row: InletRow, setting: Surroundings) -> AnyInlet`."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a factory may use: the settings, and the address of our database for a worker's login."""

    settings: Settings
    runtime_url: str
    listen_url: str


def module_of(kind: str) -> str:
    """Kinds that are read elsewhere, such as by a bridge in Node, are an error."""
    module = FACTORIES.get(kind)
    if module is None:
        raise InvalidArgument(
            f"inlets of kind {kind!r} are not read by Penstock's workers",
            "kind",
            f"Kinds that are: {', '.join(FACTORIES)}. For others run the bridge of the guide",
        )
    return module


async def open_inlet(row: InletRow, surroundings: Surroundings) -> AnyInlet:
    """Open the inlet; a kind that is read elsewhere is an error."""
    factory = cast(
        "Callable[[InletRow, Surroundings], Awaitable[AnyInlet]]",
        import_module(module_of(row.kind)).open_inlet,
    )
    return await factory(row, surroundings)
