"""What a parent tells a measured child, and the figures the child tells back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

from bench.systems import Setting

Figures = dict[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    url: str
    tasks: int = 0
    batch: int = 1_000
    rate: float = 0.0
    seconds: float = 0.0
    writers: int = 0
    window: int = 0
    settings: Mapping[str, Setting] = dataclasses.field(default_factory=dict)

    def dump(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def parse(cls, text: str) -> Job:
        return cls(**json.loads(text))
