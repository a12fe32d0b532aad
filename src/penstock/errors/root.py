"""The root of all errors, and of those that SQL functions raise."""

from __future__ import annotations

from typing import ClassVar, Self


class PenstockError(Exception):
    """The root of all errors; its text says what happened (`message`) and what to do (`remedy`)."""

    sqlstate: ClassVar[str | None] = None

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return ". ".join(part.rstrip(".") for part in (self.message, self.remedy) if part) + "."


class Refused(PenstockError):
    """An SQL function rejected the call; `field` names the argument or object at fault."""

    default_remedy: ClassVar[str] = ""

    def __init__(self, message: str, field: str | None = None, remedy: str | None = None) -> None:
        super().__init__(message, remedy or self.default_remedy)
        self.field = field
        self.args = (message, field, remedy)  # what unpickling calls the class with

    @classmethod
    def from_sql(cls, message: str, field: str | None = None, remedy: str | None = None) -> Self:
        """Build the error from a raised message, its detail (the field) and its hint (the remedy)."""
        return cls(message, field, remedy)
