"""An error response of the API, as an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import PenstockError


class ApiProblem(PenstockError):
    """The API's error: its status, the kind of problem, the field at fault and the remedy."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(
            str(problem.get("detail") or problem.get("title") or f"The API answered {status}"),
            str(problem.get("remedy") or ""),
        )
        self.status = status
        self.kind = str(problem.get("type", "")).rpartition("#problem-")[2]
        self.field: str | None = problem.get("field")
        self.request_id: str | None = problem.get("request_id")
        self.problem = dict(problem)
        self.args = (status, dict(problem))
