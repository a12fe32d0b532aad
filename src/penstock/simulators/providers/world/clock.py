"""The clock of the simulated providers: the real one with an offset, or a time that stands still."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SimulatedClock:
    """Real time plus what it was advanced by; with `start` it moves only when it is told to."""

    def __init__(self, start: datetime | None = None) -> None:
        self._fixed = start
        self._offset = timedelta()

    def now(self) -> datetime:
        """The current time of the providers."""
        return (self._fixed or datetime.now(UTC)) + self._offset

    def advance(self, seconds: float) -> datetime:
        """Move forward, or back with a negative number; the new time."""
        self._offset += timedelta(seconds=seconds)
        return self.now()

    def stop(self, at: datetime | None = None) -> datetime:
        """Stand still at this time, by default at the current one."""
        self._fixed, self._offset = at or self.now(), timedelta()
        return self._fixed


def iso_ms(moment: datetime) -> str:
    """A time as HubSpot and Google write it: 2026-10-02T08:15:30.120Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def parse_time(text: str) -> datetime:
    """A time in ISO 8601 or in milliseconds since 1970; UTC if it names no offset. ValueError otherwise."""
    if text.lstrip("-").isdecimal():
        try:
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        except (OverflowError, OSError):
            raise ValueError(f"{text[:40]} is out of range") from None
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
