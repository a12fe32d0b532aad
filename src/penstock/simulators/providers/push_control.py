"""The part of /_control that is about notifications: how reliable they are, and what happens to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from penstock.simulators.providers.microsoft.subscriptions import Lifecycle
    from penstock.simulators.providers.provider import SimulatedProvider
    from penstock.simulators.providers.push.emitter import Emitter
    from penstock.simulators.providers.simulators import ProviderSimulators

_LIFECYCLE: Final[dict[str, Lifecycle]] = {
    "reauthorization_required": "reauthorizationRequired",
    "remove_subscriptions": "subscriptionRemoved",
    "missed_notifications": "missed",
}
ACTIONS: Final = (
    *_LIFECYCLE,
    "drop_subscriptions",
    "forget_delta",
    "release_notifications",
    "rotate_push_key",
)


def state(simulators: ProviderSimulators) -> dict[str, Any]:
    """Subscriptions, watches, and what became of the notifications."""
    pubsub = simulators.gmail.pubsub
    return {
        "outlook": _counts(simulators.outlook.emitter)
        | {
            "subscriptions": [each.described() for each in simulators.outlook.subscriptions.all()],
            "delta_lag": simulators.outlook.deltas.lag_seconds,
        },
        "gmail": _counts(simulators.gmail.emitter)
        | {
            "watches": {
                address: each.expires.isoformat() for address, each in simulators.gmail.watches.open.items()
            },
            "endpoint": pubsub.endpoint,
            "audience": pubsub.audience,
            "service_account": pubsub.service_account,
            "token": pubsub.token,
            "unrouted": pubsub.unrouted,
        },
    }


def change(
    simulators: ProviderSimulators, provider: SimulatedProvider, given: dict[str, Any]
) -> dict[str, Any]:
    """Set how notifications get through, for Gmail also where they go and how their token is."""
    if provider.emitter is None:
        raise ValueError(f"{provider.name} sends no notifications; choose outlook or gmail")
    pubsub = simulators.gmail.pubsub
    if provider is simulators.gmail:
        if "endpoint" in given or "audience" in given or "service_account" in given:
            pubsub.push_to(
                given.pop("endpoint", pubsub.endpoint),
                audience=given.pop("audience", None),
                service_account=given.pop("service_account", None),
            )
        if "token" in given:
            pubsub.set_token(str(given.pop("token")))
        if "one_per_second" in given:
            simulators.gmail.watches.one_per_second = bool(given.pop("one_per_second"))
    elif "delta_lag" in given:
        simulators.outlook.deltas.lag_seconds = float(given.pop("delta_lag"))
    provider.emitter.reliability.set(**given)
    shown: dict[str, Any] = state(simulators)[provider.name]
    return shown


def act(simulators: ProviderSimulators, action: str, provider: str | None) -> int:
    """How many subscriptions, links or notifications it concerned."""
    outlook, gmail = simulators.outlook, simulators.gmail
    if event := _LIFECYCLE.get(action):
        return outlook.subscriptions.tell(event)
    match action:
        case "drop_subscriptions":
            return gmail.watches.drop() if provider == "gmail" else outlook.subscriptions.drop()
        case "forget_delta":
            return outlook.deltas.forget()
        case "rotate_push_key":
            gmail.pubsub.signer.rotate()
            return 1
        case _:
            return gmail.emitter.release() if provider == "gmail" else outlook.emitter.release()


def _counts(emitter: Emitter) -> dict[str, Any]:
    counts = {
        "sent": emitter.sent,
        "delivered": emitter.delivered,
        "lost": emitter.lost,
        "duplicated": emitter.duplicated,
        "given_up": emitter.given_up,
        "waiting": emitter.waiting,
    }
    return counts | {"reliability": asdict(emitter.reliability)}
