"""Letters about invoices, orders and parts, among others with numbers that look alike."""

from __future__ import annotations

import random
from collections import defaultdict

from bench.fusion.question_sets import QuestionSet

FAMILIES = 12
"""Groups of look-alikes for each kind of code."""

PARTNERS = ["Northwind", "Cedar mill", "Baker & Sons", "the harbour office", "Lumen", "Orchard supply"]
GOODS = ["valves", "gaskets", "bearings", "filters", "copper wire", "paint", "sensors", "bolts"]
LETTERS = {
    "invoice": [
        (
            "# Letter to {partner}\n\nPlease find attached the invoice {code} for {goods}. It is due "
            "within thirty days. Payment by bank transfer, and quote the number of the invoice."
        ),
        (
            "# Reminder\n\nOur invoice {code} to {partner} for {goods} is overdue. If it was paid in "
            "the meantime, disregard this reminder."
        ),
    ],
    "order": [
        (
            "# Confirmation of an order\n\nWe confirm order {code} of {partner}: {goods}, to be "
            "delivered in two parts. The invoice follows with the second delivery."
        ),
        (
            "# Change of an order\n\n{partner} asks us to change order {code}: more {goods}, and a "
            "later delivery. The price stays as it was confirmed."
        ),
    ],
    "part": [
        (
            "# Data sheet\n\nThe part {code} fits {goods} of all sizes. Delivered to {partner} since "
            "spring; order in packs of ten."
        ),
        (
            "# Complaint\n\n{partner} complains about the part {code}, which came with the {goods}: "
            "the thread is worn. A replacement was promised."
        ),
    ],
}
REFERENCE = " See also our letter about {code}."
QUESTIONS = {
    "invoice": ["{code}", "When is invoice {code} due?", "Was the invoice {code} to {partner} paid?"],
    "order": ["order {code}", "What was ordered with {code}?", "Did {partner} change order {code}?"],
    "part": ["part {code}", "Which {goods} does part {code} fit?", "Who complained about {code}?"],
}


def codes() -> QuestionSet:
    """A question is answered by the letter of its code, and by the one that refers to it."""
    chosen = random.Random(14)
    documents: dict[str, str] = {}
    containing: defaultdict[str, set[str]] = defaultdict(set)
    asked: list[tuple[str, str]] = []
    for kind, letters in LETTERS.items():
        for family in range(FAMILIES):
            alike = _alike(kind, family, chosen)
            for place, code in enumerate(alike):
                told = {"partner": chosen.choice(PARTNERS), "goods": chosen.choice(GOODS)}
                text = chosen.choice(letters).format(code=code, **told)
                name = f"{kind}-{family:02}-{place}.md"
                containing[code].add(name)
                if place == len(alike) - 1:
                    text += REFERENCE.format(code=alike[0])
                    containing[alike[0]].add(name)
                documents[name] = text
                if place == family // 2 % 2:
                    asked.append((QUESTIONS[kind][family % 3].format(code=code, **told), code))
    return QuestionSet(
        "identifiers", documents, [(text, frozenset(containing[code])) for text, code in asked], "en"
    )


def _alike(kind: str, family: int, chosen: random.Random) -> list[str]:
    """One code and five others: longer, shorter, swapped, and with one sign changed."""
    number = (50_000 if kind == "part" else 20_000) + 613 * family + chosen.randrange(100) * 10 + 3
    digits = str(number)
    swapped = digits[:3] + digits[4] + digits[3]
    if kind == "part":
        code = f"AX-{digits[1:]}/{'bcdk'[family % 4]}"
        return [
            code,
            f"{code}2",
            f"AX-{digits}/b",
            f"AX-{swapped[1:]}/c",
            f"BX-{digits[1:]}/z",
            f"AX-{digits[1:]}/q",
        ]
    if kind == "order" or family % 2:
        shown = [digits, digits + "0", "1" + digits, swapped if swapped != digits else digits + "7"]
        shown += [str(number + 1), str(number + 10)]
        return shown if kind == "invoice" else [f"B{each}" for each in shown]
    stem = f"INV-{2015 + family}"
    tail = digits[1:]
    return [
        f"{stem}-{tail}",
        f"{stem}-{tail}1",
        f"{stem}-{tail[:-1]}",
        f"{stem}-{tail[:2]}{tail[3]}{tail[2]}",
        f"{stem}-{int(tail) + 1:04}",
        f"INV-{2014 + family}-{tail}",
    ]
