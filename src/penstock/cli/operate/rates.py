"""Parses and formats rates such as `100/min` and `5/2s`."""

from __future__ import annotations

import re

import typer

SECOND, MINUTE, HOUR, DAY = 1, 60, 3_600, 86_400
UNITS = {"s": SECOND, "sec": SECOND, "second": SECOND, "min": MINUTE, "minute": MINUTE}
UNITS |= {"h": HOUR, "hour": HOUR, "d": DAY, "day": DAY}
RATE = re.compile(r"(\d{1,9})\s*(?:/|per)\s*(\d{1,6})?\s*([a-z]+)")


def parse_rate(text: str) -> tuple[int, float]:
    """A rate as a count and a number of seconds."""
    found = RATE.fullmatch(text.strip().lower())
    unit = found and (UNITS.get(found[3]) or UNITS.get(found[3].removesuffix("s")))
    if not found or not unit or not int(found[1]) or found[2] == "0":
        raise typer.BadParameter(
            f"{text!r} is not a rate; write 100/min, 5/s or 1000/2h", param_hint="--rate"
        )
    return int(found[1]), float(unit * int(found[2] or 1))


def parse_count(text: str) -> int:
    """A positive number."""
    if not (text.isdecimal() and 0 < int(text) < 2**31):
        raise typer.BadParameter(f"{text!r} must be a positive number or 'none'", param_hint="--max-running")
    return int(text)


def show_rate(count: int | None, seconds: float | None) -> str | None:
    """The rate as text."""
    if count is None or seconds is None:
        return None
    for unit, length in (("d", DAY), ("h", HOUR), ("min", MINUTE), ("s", SECOND)):
        if seconds % length == 0:
            number = int(seconds // length)
            return f"{count}/{'' if number == 1 else number}{unit}"
    return f"{count}/{seconds:g}s"
