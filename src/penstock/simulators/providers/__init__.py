"""Simulated HubSpot, Google Drive, QuickBooks and Gmail: OAuth, MCP, REST and faults in one ASGI app."""

from penstock.simulators.providers.faults import ProviderFault
from penstock.simulators.providers.simulators import (
    ProviderSimulators,
    providers_in_thread,
    serving_providers,
)
from penstock.simulators.providers.world.clock import SimulatedClock
from penstock.simulators.providers.world.world import World

__all__ = [
    "ProviderFault",
    "ProviderSimulators",
    "SimulatedClock",
    "World",
    "providers_in_thread",
    "serving_providers",
]
