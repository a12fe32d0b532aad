"""/_control: the settings, faults, records and ledger of the simulated providers, as JSON over HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import JSONResponse, Response

from penstock.simulators.providers import push_control
from penstock.simulators.providers.changes import apply_change
from penstock.simulators.providers.faults import KINDS
from penstock.simulators.providers.ledger import described
from penstock.simulators.providers.provider import SimulatedProvider
from penstock.simulators.providers.world.clock import parse_time

if TYPE_CHECKING:
    from starlette.requests import Request

    from penstock.simulators.providers.simulators import ProviderSimulators

GRANT_SETTINGS: Final = ("rotation", "access_seconds", "refresh_seconds")
SETTINGS: Final = (
    *GRANT_SETTINGS,
    "auto_consent",
    "withheld_scopes",
    "redirect_uris",
    "eras",
    "json_responses",
    "rate_limit",
    "message_fields",
)
ACTIONS: Final = (
    "expire_tokens",
    "revoke_grants",
    "drop_sessions",
    "forget_history",
    *push_control.ACTIONS,
)


class Control:
    """Answers requests below /_control; a bad request says what would be right."""

    def __init__(self, simulators: ProviderSimulators) -> None:
        self._simulators = simulators

    async def answer(self, request: Request, body: bytes) -> Response:
        try:
            given = json.loads(body) if body else {}
            if not isinstance(given, dict):
                raise ValueError("the body must be a JSON object")
            return JSONResponse(self._do(request, given))
        except (ValueError, KeyError, TypeError) as refused:
            return JSONResponse({"error": str(refused)}, 400)

    def _do(self, request: Request, given: dict[str, Any]) -> Any:
        simulators = self._simulators
        match request.method, request.url.path.removeprefix("/_control").strip("/"):
            case "GET", "":
                return self._state()
            case "GET", "faults":
                return {"faults": [rule.described() for rule in simulators.faults.rules()]}
            case "POST", "faults":
                kind = given.pop("kind", None)
                if kind not in KINDS:
                    raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
                given.pop("action", None)
                return simulators.faults.add(kind, **given).described()
            case "DELETE", "faults":
                chosen = request.query_params.get("id")
                return {"removed": simulators.faults.clear(int(chosen) if chosen else None)}
            case "GET", "ledger":
                return self._ledger(request)
            case "DELETE", "ledger":
                simulators.ledger.clear()
                return {}
            case "POST", "records":
                return {"ids": apply_change(simulators.world, given)}
            case "POST", "clock":
                return self._clock(given)
            case "POST", "settings":
                return self.change_settings(self._provider(given.pop("provider", None)), given)
            case "POST", "actions":
                return {"count": self._act(str(given.get("action")), given.get("provider"))}
            case "GET", "push":
                return push_control.state(simulators)
            case "POST", "push":
                return push_control.change(simulators, self._provider(given.pop("provider", None)), given)
            case "POST", "mails":
                return self._deliver(given)
            case method, path:
                raise ValueError(f"there is no {method} /_control/{path}; see docs/guides/simulators.md")

    def _deliver(self, given: dict[str, Any]) -> dict[str, Any]:
        """Mails arrive: `provider`, `count` and what Delivery.deliver takes."""
        count, provider = int(given.pop("count", 1)), given.pop("provider", "outlook")
        made = [self._simulators.world.mails.deliver(provider, **given) for _ in range(count)]
        return {
            "mails": [{"id": each.id, "message_id": each.message_id, "files": each.files} for each in made]
        }

    def change_settings(self, provider: SimulatedProvider, changes: dict[str, Any]) -> dict[str, Any]:
        for name, value in changes.items():
            if name not in SETTINGS:
                raise ValueError(f"there is no setting {name!r}; choose one of {', '.join(SETTINGS)}")
            if name in GRANT_SETTINGS:
                setattr(provider.oauth.grants, name, value)
            elif name == "rate_limit":
                provider.limiter.set(*(value or (None,)))
            elif name in ("eras", "json_responses", "message_fields") and hasattr(provider, name):
                setattr(provider, name, value)
            elif name == "message_fields":
                raise ValueError("message_fields is a setting of gmail")
            else:
                setattr(provider.oauth, name, frozenset(value) if isinstance(value, list) else bool(value))
        return _settings_of(provider)

    def _state(self) -> dict[str, Any]:
        simulators = self._simulators
        return {
            "records": simulators.world.counts(),
            "clock": simulators.world.clock.now().isoformat(),
            "requests": simulators.ledger.count(),
            "providers": {
                name: {"addresses": simulators.addresses(name), "settings": _settings_of(provider)}
                for name, provider in simulators.providers.items()
            },
        }

    def _ledger(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        entries = self._simulators.ledger.entries(
            query.get("provider"),
            query.get("surface"),
            query.get("operation"),
            since=int(query.get("since", "0")),
        )
        return {"count": len(entries), "requests": [described(each) for each in entries]}

    def _clock(self, given: dict[str, Any]) -> dict[str, str]:
        clock = self._simulators.world.clock
        if "stop" in given:
            at = given["stop"]
            clock.stop(parse_time(at) if isinstance(at, str) else None)
        if "advance" in given:
            clock.advance(float(given["advance"]))
        return {"clock": clock.now().isoformat()}

    def _act(self, action: str, provider: str | None) -> int:
        simulators = self._simulators
        if action not in ACTIONS:
            raise ValueError(f"there is no action {action!r}; choose one of {', '.join(ACTIONS)}")
        if action == "forget_history":
            return simulators.world.gmail.forget_history()
        if action in push_control.ACTIONS:
            return push_control.act(simulators, action, provider)
        chosen = self._provider(provider)
        match action:
            case "expire_tokens":
                return chosen.oauth.grants.expire_access_tokens()
            case "revoke_grants":
                return chosen.oauth.grants.revoke_all()
            case _:
                return simulators.drop_sessions(chosen.name)

    def _provider(self, name: object) -> SimulatedProvider:
        found = self._simulators.providers.get(str(name))
        if found is None:
            known = ", ".join(self._simulators.providers)
            raise ValueError(f"provider must be one of {known}, not {name!r}")
        return found


def _settings_of(provider: SimulatedProvider) -> dict[str, Any]:
    grants, oauth = provider.oauth.grants, provider.oauth
    return {
        "rotation": grants.rotation,
        "access_seconds": grants.access_seconds,
        "refresh_seconds": grants.refresh_seconds,
        "auto_consent": oauth.auto_consent,
        "withheld_scopes": sorted(oauth.withheld_scopes),
        "redirect_uris": sorted(oauth.redirect_uris),
        "eras": provider.eras,
        "json_responses": provider.json_responses,
        "rate_limit": [provider.limiter.requests, provider.limiter.seconds]
        if provider.limiter.requests is not None
        else None,
    }
