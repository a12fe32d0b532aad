"""What embedding costs: tokens times the price of a million of them."""

from __future__ import annotations


def cost_of(tokens: int, price: float | None) -> float | None:
    """To a hundredth of a cent; None where no price is set."""
    return None if price is None else round(tokens * price / 1_000_000, 4)
