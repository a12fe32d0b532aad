"""Counts the characters of a text: how often each occurs."""

from __future__ import annotations

from collections import Counter

import numpy as np

_MOST = 0x3000
"""Texts whose characters are all below this one are counted with an array of that length."""


def character_counts(text: str) -> dict[str, int]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    if not len(codes) or codes.max() >= _MOST:
        return Counter(text)
    counts = np.bincount(codes)
    found = counts.nonzero()[0]
    return dict(zip(map(chr, found.tolist()), counts[found].tolist(), strict=True))
