"""The API keeps to its own description: generated requests never find a server error."""

from __future__ import annotations
