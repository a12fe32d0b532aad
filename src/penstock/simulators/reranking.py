"""A simulated reranker that speaks the APIs of Cohere, Voyage and text-embeddings-inference."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from penstock.simulators.embeddings import KEY
from penstock.simulators.faults import Faults, response_for

if TYPE_CHECKING:
    from starlette.requests import Request

_TEI_TEXTS: Final = 32


class RerankSimulator:
    """Scores a passage by the share of the query's words it contains; answers best first, as vendors do."""

    def __init__(self, *, key: str = KEY) -> None:
        self.key = key
        self.faults = Faults()
        self.calls = 0
        self.bodies: list[Mapping[str, Any]] = []
        self.app = Starlette(
            routes=[
                Route("/v2/rerank", self._cohere, methods=["POST"]),
                Route("/v1/rerank", self._voyage, methods=["POST"]),
                Route("/rerank", self._tei, methods=["POST"]),
            ]
        )

    async def _cohere(self, request: Request) -> Response:
        body, scored = await self._begin(request, "documents")
        if isinstance(scored, Response):
            return scored
        results = [{"index": at, "relevance_score": score} for at, score in scored[: body["top_n"]]]
        billed = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
        return JSONResponse({"id": "simulated", "results": results, "meta": billed})

    async def _voyage(self, request: Request) -> Response:
        body, scored = await self._begin(request, "documents")
        if isinstance(scored, Response):
            return scored
        data = [{"index": at, "relevance_score": score} for at, score in scored]
        tokens = sum(len(text.split()) + len(body["query"].split()) for text in body["documents"])
        usage = {"total_tokens": tokens}
        return JSONResponse({"object": "list", "data": data, "model": body["model"], "usage": usage})

    async def _tei(self, request: Request) -> Response:
        body, scored = await self._begin(request, "texts")
        if isinstance(scored, Response):
            return scored
        if len(body["texts"]) > _TEI_TEXTS:
            error = f"batch size {len(body['texts'])} > maximum allowed batch size {_TEI_TEXTS}"
            return JSONResponse({"error": error, "error_type": "Validation"}, 422)
        return JSONResponse([{"index": at, "score": score} for at, score in scored])

    async def _begin(
        self, request: Request, field: str
    ) -> tuple[Mapping[str, Any], Response | list[tuple[int, float]]]:
        self.calls += 1
        body = await request.json()
        self.bodies.append(body)
        fault = self.faults.take()
        if fault is not None and (answer := await response_for(fault, request)) is not None:
            return body, answer
        if request.headers.get("authorization", "").removeprefix("Bearer ") != self.key:
            return body, JSONResponse({"message": "invalid api key"}, 401)
        scores = [_score(body["query"], text) for text in body[field]]
        scored = sorted(enumerate(scores), key=lambda pair: -pair[1])
        return body, scored[:-1] if fault is not None and fault.kind == "short" else scored


def _score(query: str, text: str) -> float:
    words = set(re.findall(r"\w+", query.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))
