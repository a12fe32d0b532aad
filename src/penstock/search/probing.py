"""Embeds a query with every model in use, within a time limit; one that fails does not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from penstock.errors import InvalidArgument, PenstockError
from penstock.index.protocol import QueryVector
from penstock.model import Embedder
from penstock.observe import get_logger
from penstock.search.answer import UnavailableEmbedder

log = get_logger(__name__)

T = TypeVar("T")
_Awaited: TypeAlias = Awaitable[T]
_Call: TypeAlias = Callable[[str], Awaitable[T]]
ProjectModels: TypeAlias = Mapping[str, Any]
"""A row of search.models()."""
Stage: TypeAlias = Literal["live", "staged"]

EMBED_SECONDS = 5.0
LONGEST_REST = 30.0


class EmbedderSource(Protocol):
    async def embedder(self, name: str) -> Embedder:
        """The embedder of this name in a project's settings."""


class Probing:
    """A remote model that failed is skipped for a moment, so that not every search waits for it."""

    def __init__(self, embedders: EmbedderSource, seconds: float = EMBED_SECONDS) -> None:
        self._embedders = embedders
        self._seconds = seconds
        self._resting: dict[str, tuple[float, str]] = {}

    async def probes(
        self,
        projects: Sequence[ProjectModels],
        text: str,
        only: str | None = None,
        *,
        respelt: str | None = None,
    ) -> tuple[list[QueryVector], list[UnavailableEmbedder]]:
        """One vector for each model that responded, and the embedders that did not, with their projects.

        `only`: of one embedder. `respelt`: the text for local models, which do not know a misspelt word;
        a provider's large model does, and a name that only looks misspelt stays what it is.
        """
        wanted = {name: slugs for name, slugs in _wanted(projects).items() if only in (None, name)}
        failed: dict[str, str] = {}
        found: dict[str, tuple[str, Embedder]] = {}
        for name, made in await self._each(wanted, self._make, failed):
            found.setdefault(made.model, (name, made))

        async def embed(model: str) -> QueryVector:
            name, embedder = found[model]
            return await self._embed(name, model, embedder, text, respelt)

        probes = [probe for _, probe in await self._each(sorted(found), embed, failed)]
        unavailable = [
            UnavailableEmbedder(embedder=name, reason=reason, projects=tuple(sorted(wanted[name])))
            for name in sorted(wanted)
            if (reason := failed.get(name)) is not None
        ]
        return probes, unavailable

    async def _each(self, keys: Iterable[str], call: _Call[T], failed: dict[str, str]) -> list[tuple[str, T]]:
        """The calls' results; the reason of a failure goes into `failed` under the embedder's name."""
        names = list(keys)
        results = await asyncio.gather(*(call(name) for name in names), return_exceptions=True)
        good: list[tuple[str, T]] = []
        for name, result in zip(names, results, strict=True):
            match result:
                case _Failed():
                    failed[result.name] = result.reason
                case BaseException():
                    raise result
                case _:
                    good.append((name, result))
        return good

    async def _make(self, name: str) -> Embedder:
        until, reason = self._resting.get(name, (0.0, ""))
        if until > monotonic():
            raise _Failed(name, reason)
        return await self._within(name, self._seconds, self._embedders.embedder(name))

    async def _embed(
        self, name: str, model: str, embedder: Embedder, text: str, respelt: str | None
    ) -> QueryVector:
        # No time limit for a local model: it works or is broken, and its first call may have to load it.
        seconds = self._seconds if embedder.is_remote else None
        read = text if respelt is None or embedder.is_remote else respelt
        embedded = await self._within(name, seconds, embedder.embed([read], "query"))
        return QueryVector(model, embedded.vectors[0], embedded.tokens, is_respelt=read is not text)

    async def _within(self, name: str, seconds: float | None, call: _Awaited[T]) -> T:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await call
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._failed(name, f"the embedder {name} did not answer in {seconds:g} s") from None
        except PenstockError as error:
            raise self._failed(name, error.message, getattr(error, "retry_after", None)) from error

    def _failed(self, name: str, reason: str, retry_after: float | None = None) -> _Failed:
        rest = min(LONGEST_REST, self._seconds if retry_after is None else retry_after)
        self._resting[name] = (monotonic() + rest, reason)
        log.throttled("search_degraded", every=10, embedder=name, reason=reason)
        return _Failed(name, reason)


class _Failed(Exception):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason


def of_stage(projects: Sequence[ProjectModels], stage: Stage | None) -> Sequence[ProjectModels]:
    """The projects with the models of one stage of a re-index only: of what is live, or of what is staged."""
    if stage is None:
        return projects
    return [
        {
            **project,
            "embedder": (stage == "staged" and project["next_embedder"]) or project["embedder"],
            "next_embedder": None,
            "fallback_embedders": [] if stage == "staged" else project["fallback_embedders"],
        }
        for project in projects
    ]


def withheld(projects: Sequence[ProjectModels], reason: str) -> list[UnavailableEmbedder]:
    """Report the embedders of these projects as unavailable for this reason."""
    return [
        UnavailableEmbedder(embedder=name, reason=reason, projects=tuple(sorted(slugs)))
        for name, slugs in _wanted(projects).items()
    ]


def check_indexed(projects: Sequence[ProjectModels], embedder: str | None) -> None:
    """Reject an embedder that none of these projects is indexed with."""
    names = sorted(_wanted(projects))
    if embedder is not None and embedder not in names:
        raise InvalidArgument(
            f"no project searched is indexed with {embedder!r}",
            "embedder",
            f"Use one of {', '.join(names)}" if names else "Create a project first",
        )


def _wanted(projects: Sequence[ProjectModels]) -> dict[str, set[str]]:
    """The embedders of these projects, each with the projects it is for."""
    wanted: dict[str, set[str]] = {}
    for project in projects:
        names = {project["embedder"], project["next_embedder"], *project["fallback_embedders"]} - {None}
        for name in names:
            wanted.setdefault(name, set()).add(project["slug"])
    return dict(sorted(wanted.items()))
