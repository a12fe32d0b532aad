"""Where a measured child works: a database of its own, a folder, and what it is to do there."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from bench.documents.sizes import Sizes
from penstock.settings import Settings


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    admin_url: str
    runtime_url: str
    operator_url: str
    folder: str
    server_pid: int = 0
    """The database server, whose processor time counts too; 0 leaves it out."""

    def settings(self, **chosen: Any) -> Settings:
        return Settings(
            **{
                "database_url": self.runtime_url,
                "operator_url": self.operator_url,
                "admin_url": self.admin_url,
                "data_dir": Path(self.folder) / "data",
                "log_level": "warning",
                **chosen,
            }
        )

    def variables(self, **chosen: str) -> dict[str, str]:
        """The same for a command of penstock."""
        return {
            "PENSTOCK_DATABASE_URL": self.runtime_url,
            "PENSTOCK_OPERATOR_URL": self.operator_url,
            "PENSTOCK_ADMIN_URL": self.admin_url,
            "PENSTOCK_DATA_DIR": str(Path(self.folder) / "data"),
            "PENSTOCK_LOG_LEVEL": "warning",
            **chosen,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Job:
    place: Place
    sizes: Sizes
    embedder: str = "minilm"

    def settings(self, **chosen: Any) -> Settings:
        return self.place.settings(embedder=self.embedder, **chosen)

    def dump(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def parse(cls, text: str) -> Job:
        held = json.loads(text)
        return cls(Place(**held["place"]), Sizes(**held["sizes"]), held["embedder"])
