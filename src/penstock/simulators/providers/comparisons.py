"""What the comparison operators of the vendors' query languages do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
