"""The protocol of field maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from penstock.sources.mapping.mapped import Mapped


class FieldMap(Protocol):
    """Maps records of one document type; `version` rises with every change of what it makes of a record."""

    @property
    def document_type(self) -> str:
        """Which records it maps."""

    @property
    def version(self) -> int:
        """Records that an older version mapped are mapped again."""

    def apply(self, external_id: str, payload: Mapping[str, Any]) -> Mapped:
        """Pure: the same payload always gives the same result. Raises MapFailed."""
