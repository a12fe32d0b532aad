"""A simulated provider of embeddings that speaks the APIs of OpenAI, Cohere, Voyage and the brain."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from penstock.simulators.faults import Fault, Faults, response_for
from penstock.simulators.vectors import Floats, vector

if TYPE_CHECKING:
    from starlette.requests import Request

KEY: Final = "simulated-key"
_SIZES: Final = {
    "text-embedding-3-small": 1_536,
    "text-embedding-3-large": 3_072,
    "embed-v4.0": 1_536,
    "voyage-3.5-lite": 1_024,
}
_MOST_TEXTS: Final = {"openai": 2_048, "cohere": 96, "voyage": 1_000, "brain": 10_000}


class EmbeddingsSimulator:
    """Answers, counts and fails on demand. Its base URL is /v1 for OpenAI and / for the others.

    OpenAI and Voyage share the path /v1/embeddings and are told apart by the model's name.
    """

    def __init__(self, *, key: str = KEY, brain_model: str = "text-embedding-3-small") -> None:
        self.key = key
        self.brain_model = brain_model
        self.faults = Faults()
        self.calls = 0
        """Received requests, including failed ones."""
        self.texts = 0
        """Texts that were embedded."""
        self.bodies: list[Mapping[str, Any]] = []
        """The texts of each request."""
        self.app = Starlette(
            routes=[
                Route("/v1/embeddings", self._openai_or_voyage, methods=["POST"]),
                Route("/v2/embed", self._cohere, methods=["POST"]),
                Route("/internal/embed", self._brain, methods=["POST"]),
            ]
        )

    async def _openai_or_voyage(self, request: Request) -> Response:
        body = await request.json()
        is_voyage = str(body["model"]).startswith("voyage")
        name = "voyage" if is_voyage else "openai"
        sized = body.get("output_dimension" if is_voyage else "dimensions")
        fault, early = await self._begin(request, body, body["input"], name)
        if early is not None:
            return early
        made = self._make(body["model"], body["input"], sized, fault)
        encode = _base64 if body.get("encoding_format") == "base64" else _numbers
        data = [{"object": "embedding", "embedding": encode(one), "index": at} for at, one in enumerate(made)]
        if fault is not None and fault.kind == "shuffled":
            data.reverse()
        tokens = _tokens(body["input"])
        model = "another-model" if fault is not None and fault.kind == "other_model" else body["model"]
        usage = {"total_tokens": tokens} if is_voyage else {"prompt_tokens": tokens, "total_tokens": tokens}
        return _json({"object": "list", "data": data, "model": model, "usage": usage})

    async def _cohere(self, request: Request) -> Response:
        body = await request.json()
        fault, early = await self._begin(request, body, body["texts"], "cohere")
        if early is not None:
            return early
        made = self._make(body["model"], body["texts"], body.get("output_dimension"), fault)
        billed = {"input_tokens": _tokens(body["texts"])}
        return _json(
            {
                "id": "simulated",
                "texts": body["texts"],
                "embeddings": {"float": [_numbers(one) for one in made]},
                "meta": {"api_version": {"version": "2"}, "billed_units": billed},
            }
        )

    async def _brain(self, request: Request) -> Response:
        body = await request.json()
        fault, early = await self._begin(request, body, body["texts"], "brain")
        if early is not None:
            return early
        made = self._make(self.brain_model, body["texts"], None, fault)
        model = "another-model" if fault is not None and fault.kind == "other_model" else self.brain_model
        return _json(
            {
                "embeddings": [_numbers(one) for one in made],
                "model": model,
                "dim": len(made[0]) if made else 0,
            }
        )

    async def _begin(
        self, request: Request, body: Mapping[str, Any], texts: list[str], vendor: str
    ) -> tuple[Fault | None, Response | None]:
        self.calls += 1
        self.bodies.append(body)
        fault = self.faults.take()
        if fault is not None and (answer := await response_for(fault, request)) is not None:
            return fault, answer
        given = request.headers.get("x-brain-secret" if vendor == "brain" else "authorization", "")
        if given.removeprefix("Bearer ") != self.key:
            return None, _refusal(401, "invalid api key")
        if len(texts) > _MOST_TEXTS[vendor]:
            return None, _refusal(400, f"at most {_MOST_TEXTS[vendor]} texts")
        if str(body.get("model", "")).startswith("unknown"):
            return None, _refusal(404, "no such model")
        self.texts += len(texts)
        return fault, None

    def _make(self, model: str, texts: list[str], sized: int | None, fault: Fault | None) -> list[Floats]:
        size = sized or _SIZES.get(model, 64)
        made = [vector(model, text, size) for text in texts]
        match fault.kind if fault is not None else None:
            case "short":
                return made[:-1]
            case "wrong_size":
                return [one[:-1] for one in made]
            case "not_a_number":
                made[-1][0] = math.nan
        return made


def _refusal(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message}, "message": message}, status)


def _json(body: object) -> Response:
    # Starlette's own JSON response rejects NaN, which is one of the faults.

    return Response(json.dumps(body), media_type="application/json")


def _numbers(one: Floats) -> list[float]:
    return [float(number) for number in one]


def _base64(one: Floats) -> str:
    return base64.b64encode(one.astype("<f4").tobytes()).decode()


def _tokens(texts: list[str]) -> int:
    return sum(len(text.split()) for text in texts)
