"""Changes of a source's rules: each names what to switch, weigh, allow or block, and the rest stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import InvalidArgument
from penstock.sources.mail.rules.judge import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChanges:
    """Rules to switch `off` or `on`, weights to set (None: the usual one), senders to allow or block, and
    senders to `forget`, which are then neither."""

    off: Sequence[str] = ()
    on: Sequence[str] = ()
    weights: Mapping[str, float | None] = field(default_factory=dict)
    allow: Sequence[str] = ()
    block: Sequence[str] = ()
    forget: Sequence[str] = ()

    def applied_to(self, rules: Mapping[str, Any]) -> dict[str, Any]:
        """The `rules` of a source's configuration after the changes; not checked yet."""
        for name in (*self.off, *self.on, *self.weights):
            if name not in RULES:
                raise InvalidArgument(f"there is no rule {name!r}", "rules", f"There are {', '.join(RULES)}")
        if both := sorted({*self.off} & {*self.on}):
            raise InvalidArgument(f"{both[0]!r} cannot be on and off", "on", "Name it once")
        off = [name for name in (*rules.get("off", ()), *self.off) if name not in self.on]
        weights = {**rules.get("weights", {}), **self.weights}
        changed = {
            "off": list(dict.fromkeys(off)),
            "weights": {name: weight for name, weight in weights.items() if weight is not None},
            "allow_senders": self._senders(rules.get("allow_senders", ()), self.allow, self.block),
            "block_senders": self._senders(rules.get("block_senders", ()), self.block, self.allow),
        }
        return {name: value for name, value in changed.items() if value}

    def _senders(self, known: Sequence[str], added: Sequence[str], elsewhere: Sequence[str]) -> list[str]:
        """A sender that is allowed now is no longer blocked, and the other way round."""
        left = {_plain(each) for each in (*elsewhere, *self.forget)} - {_plain(each) for each in added}
        return list(
            dict.fromkeys(sender for each in (*known, *added) if (sender := _plain(each)) not in left)
        )


def _plain(sender: str) -> str:
    return sender.strip().lower().removeprefix("@")
