"""Embedders called over HTTP: the brain, OpenAI-compatible servers, Cohere, Voyage."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.embed.remote.budget import Budgeted, budgeted
    from penstock.embed.remote.embedder import RemoteEmbedder, estimate_tokens
    from penstock.embed.remote.making import VENDORS, make_remote

__all__ = ["VENDORS", "Budgeted", "RemoteEmbedder", "budgeted", "estimate_tokens", "make_remote"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "budget": ["Budgeted", "budgeted"],
        "embedder": ["RemoteEmbedder", "estimate_tokens"],
        "making": ["VENDORS", "make_remote"],
    },
)
