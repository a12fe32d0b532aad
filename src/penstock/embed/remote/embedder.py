"""The remote embedder: uses a vendor's wire format and validates responses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from penstock.embed.remote.packing import dimensions_of, packed
from penstock.embed.remote.posting import post
from penstock.embed.remote.wire import EmbedResponse, ModelFacts, Wire
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused
from penstock.errors.invalid_field import first_invalid
from penstock.model.embedder import Embedded, Purpose
from penstock.observe import get_logger

if TYPE_CHECKING:
    import httpx2

TOKENIZER: Final = "llama"
"""The vendors' tokenisers are not available; this one is, and counts more tokens than theirs."""

_PROBE: Final = "penstock"
_log = get_logger(__name__)


def estimate_tokens(texts: Sequence[str]) -> int:
    """An estimate of the tokens a vendor will count."""
    return sum(len(text.encode()) // 4 + 1 for text in texts)


class RemoteEmbedder:
    """An Embedder over HTTP. What is unknown about its model is learned from the first response."""

    def __init__(
        self,
        wire: Wire,
        model: ModelFacts,
        client: httpx2.AsyncClient,
        address: str,
        fallback: str | None = None,
    ) -> None:
        self._wire = wire
        self._client = client
        self._address = address
        self._fallback = fallback
        self._name = model.name
        self._dimensions = model.dimensions
        self._max_tokens = model.max_tokens

    @property
    def vendor(self) -> str:
        return self._wire.vendor

    @property
    def model(self) -> str:
        if self._name is None:
            raise EmbedderFailed(self._wire.vendor, "its model is not known yet", "Call learn() first")
        return f"{self._wire.vendor}:{self._name}"

    @property
    def dimensions(self) -> int:
        if self._dimensions is None:
            raise EmbedderFailed(self._label, "its dimensions are not known yet", "Call learn() first")
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    @property
    def tokenizer(self) -> str:
        return TOKENIZER

    @property
    def batch_size(self) -> int:
        return self._wire.batch_size

    @property
    def is_remote(self) -> bool:
        return True

    async def learn(self) -> None:
        """Call it once if needed, so that `model` and `dimensions` are known."""
        if self._name is None or self._dimensions is None:
            await self.embed([_PROBE])

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        if not texts:
            return Embedded((), 0)
        if len(texts) > self.batch_size:
            raise EmbedderRefused(
                self._label, f"{len(texts)} texts in one call", f"Send {self.batch_size} at a time"
            )
        try:
            return await self._ask(self._address, texts, purpose, proven=False)
        except (EmbedderBusy, EmbedderFailed) as first:
            if self._fallback is None or self._name is None:
                raise
            _log.throttled("embedder_fell_back", every=10, model=self._label, reason=first.reason)
            try:
                return await self._ask(self._fallback, texts, purpose, proven=True)
            except (EmbedderBusy, EmbedderFailed, EmbedderRefused) as second:
                _log.throttled("embedder_fallback_failed", every=10, model=self._label, reason=second.reason)
                raise first from second

    async def close(self) -> None:
        await self._client.aclose()

    @property
    def _label(self) -> str:
        return f"{self._wire.vendor}:{self._name}" if self._name else self._wire.vendor

    async def _ask(self, address: str, texts: Sequence[str], purpose: Purpose, *, proven: bool) -> Embedded:
        """`proven`: the response must name the model, if this vendor's responses do."""
        call = self._wire.call(texts, purpose)
        content = await post(self._client, self._wire, self._label, address, call)
        try:
            answer = self._wire.read(content)
            self._check_model(answer, proven=proven)
            dimensions = dimensions_of(answer) if self._dimensions is None else self._dimensions
            vectors = packed(answer, count=len(texts), dimensions=dimensions)
        except ValidationError as invalid:  # its text would contain the response
            place = ".".join(map(str, first_invalid(invalid).path[:2])) or "body"
            raise EmbedderFailed(self._label, f"its response is invalid: {place}") from None
        except ValueError as wrong:
            raise EmbedderFailed(self._label, f"it answered {wrong}") from None
        self._name, self._dimensions = self._name or answer.model, dimensions
        tokens = estimate_tokens(texts) if answer.tokens is None else answer.tokens
        return Embedded(vectors, tokens)

    def _check_model(self, answer: EmbedResponse, *, proven: bool) -> None:
        said = answer.model
        if said is None:
            if (proven and self._wire.answers_name_model) or self._name is None:
                raise EmbedderFailed(self._label, "its response does not name the model")
        elif not said or (self._name is not None and not _same(self._name, said)):
            raise EmbedderFailed(
                self._label,
                f"the model {said!r} answered",
                f"Vectors of two models do not mix: use the embedder {self._wire.vendor}:{said}, or correct "
                f"what the address serves",
            )


def _same(asked: str, said: str) -> bool:
    """Vendors name the version they used: text-embedding-ada-002-v2 for text-embedding-ada-002."""
    return said == asked or re.fullmatch(re.escape(asked) + r"-v?[0-9][\w.]*", said) is not None
