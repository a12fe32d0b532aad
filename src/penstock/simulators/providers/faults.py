"""Faults of the simulated providers: which requests they hit, how often, and what happens then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeAlias, get_args

Surface: TypeAlias = Literal["authorize", "token", "revoke", "identity", "mcp", "sandbox", "rest"]
Kind: TypeAlias = Literal[
    "unauthorized",
    "missing_scopes",
    "rate_limited",
    "server_error",
    "oauth_error",  # a status with the vendor's body
    "expire_tokens",
    "revoke_grants",  # rejected from this request on
    "slow",
    "hang",
    "disconnect",
    "lost_response",
    "not_json",  # the network
    "drop_session",
    "tool_error",
    "rpc_error",  # MCP
    "huge",
    "prose",
    "mismatch",
    "missing_tool",
    "missing_argument",  # MCP: a result or a list of tools
    "drift",
    "expired_page_token",  # paging
    "empty_page",
    "replay",  # Graph's delta queries
]

KINDS: Final[tuple[str, ...]] = get_args(Kind)
SURFACES: Final[tuple[str, ...]] = get_args(Surface)
DATA: Final = ("mcp", "sandbox", "rest")
_LISTS: Final = ("missing_tool", "missing_argument")
_DELTA: Final = ("empty_page", "replay")
PAGE_ARGUMENTS: Final = ("pageToken", "after", "offset", "startPosition", "$skiptoken", "$deltatoken")


@dataclass(slots=True)
class ProviderFault:
    """One rule. Without `surface` and `operation` it hits calls that read data: tool calls and REST.

    `operation` is a tool (`search_crm_objects`), an MCP method (`initialize`, `tools/list`) or a REST
    operation (`files.list`); `*` is any.
    """

    kind: Kind
    provider: str | None = None
    surface: Surface | None = None
    operation: str | None = None
    times: int | None = 1
    """None: until it is removed."""
    skip: int = 0
    """Let this many matching requests through first: the fault of the third page has skip=2."""
    status: int = 503
    retry_after: str | None = None
    policy: str = "TEN_SECONDLY_ROLLING"
    """HubSpot's policyName of a 429: TEN_SECONDLY_ROLLING, SECONDLY or DAILY."""
    seconds: float = 60.0
    size: int = 10_000_000
    repeats: int = 5
    """Of replay: how many messages are shown again."""
    tool: str | None = None
    argument: str | None = None
    message: str = "the simulator was told to fail"
    """The text of an error; of missing_scopes the scope, of oauth_error the code, such as invalid_client."""
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Of drift: changes to the records, made before the response; see /_control/records."""
    action: Callable[[], object] | None = None
    """Of drift in the same process: called before the response."""
    id: int = 0
    hits: int = 0

    def matches(self, provider: str, surface: str, operation: str, arguments: Mapping[str, Any]) -> bool:
        if self.provider not in (None, provider):
            return False
        if self.kind in _LISTS:
            return surface in ("mcp", "sandbox")
        if self.kind == "expired_page_token" and not any(arguments.get(name) for name in PAGE_ARGUMENTS):
            return False
        if self.kind in _DELTA and operation != "messages.delta":
            return False
        if self.surface is not None and self.surface != surface:
            return False
        if self.surface is None and surface not in DATA:
            return False
        if self.operation is not None:
            return self.operation in ("*", operation)
        method = "/" in operation or operation in ("initialize", "ping")
        return not (method and surface in ("mcp", "sandbox"))

    def described(self) -> dict[str, Any]:
        """The rule as JSON."""
        shown = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "action"}
        return shown | {"action": self.action is not None}


class FaultPlan:
    """The rules of all providers; a request takes the first rule that matches and still has a turn."""

    def __init__(self) -> None:
        self._rules: list[ProviderFault] = []
        self._last = 0

    def add(self, kind: Kind, provider: str | None = None, **options: Any) -> ProviderFault:
        """A new rule; `options` are fields of ProviderFault."""
        if kind not in KINDS:
            raise ValueError(f"there is no fault {kind!r}; choose one of {', '.join(KINDS)}")
        rule = ProviderFault(kind, provider, **options)
        if rule.surface is not None and rule.surface not in SURFACES:
            raise ValueError(f"there is no surface {rule.surface!r}; choose one of {', '.join(SURFACES)}")
        self._last += 1
        rule.id = self._last
        if kind in _LISTS:
            rule.times = None if rule.times == 1 else rule.times
        self._rules.append(rule)
        return rule

    def clear(self, rule_id: int | None = None) -> int:
        """Remove one rule or all; how many were removed."""
        before = len(self._rules)
        self._rules = [rule for rule in self._rules if rule_id is not None and rule.id != rule_id]
        return before - len(self._rules)

    def take(
        self, provider: str, surface: str, operation: str, arguments: Mapping[str, Any]
    ) -> ProviderFault | None:
        """The fault of this request, counted as one of its turns."""
        for rule in self._rules:
            if rule.kind in _LISTS or not rule.matches(provider, surface, operation, arguments):
                continue
            if rule.times == 0:
                continue
            if rule.skip > 0:
                rule.skip -= 1
                continue
            rule.hits += 1
            if rule.times is not None:
                rule.times -= 1
            return rule
        return None

    def of_lists(self, provider: str, surface: str) -> Iterable[ProviderFault]:
        """What is missing in the provider's tools/list."""
        return [
            rule for rule in self._rules if rule.kind in _LISTS and rule.matches(provider, surface, "", {})
        ]

    def rules(self) -> list[ProviderFault]:
        return list(self._rules)
