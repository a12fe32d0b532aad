"""POST /internal/embed: this installation's embedder, for programs that have the shared secret."""

from __future__ import annotations

import hmac
from typing import Annotated, Final

import numpy
from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.bodies import read_whole, refuse_other_than_json
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.problem import HttpRefused
from penstock.api.secret_guesses import SecretGuesses

router = APIRouter(tags=["Embedding"])

SECRET_HEADER: Final = "X-Brain-Secret"  # noqa: S105 - a header's name
_BODY_BYTES: Final = 16_777_216


class Texts(Body):
    texts: Annotated[list[Annotated[Text, Field(pattern=r"\S")]], Field(min_length=1, max_length=2_048)]


class Embeddings(BaseModel):
    model_config = ConfigDict(frozen=True)

    embeddings: list[list[float]]
    model: str
    dim: int


@router.post(
    "/internal/embed",
    operation_id="embed",
    openapi_extra={
        "security": [{"brainSecret": []}],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": Texts.model_json_schema()}},
        },
    },
)
async def embed(request: Request) -> Embeddings:
    """Embed texts with the default model; returns 404 unless a secret is configured."""
    engine = engine_of(request)
    secret = engine.settings.brain_api_secret
    if secret is None:
        raise HttpRefused(
            "not-found", "There is nothing here", "Set PENSTOCK_BRAIN_API_SECRET to offer embeddings"
        )
    guesses: SecretGuesses = request.app.state.embed_guesses
    address = None if request.client is None else request.client.host
    guesses.refuse_over(address)
    given = request.headers.get(SECRET_HEADER, "")
    if not hmac.compare_digest(given.encode(), secret.encode()):
        guesses.wrong(address)
        raise HttpRefused("unauthorized", "The shared secret is wrong", field=SECRET_HEADER)
    guesses.right(address)
    refuse_other_than_json(request)
    asked = Texts.model_validate_json(await read_whole(request, _BODY_BYTES, what="texts"))
    embedder = await engine.embedders.embedder(engine.settings.embedder)
    vectors: list[list[float]] = []
    for start in range(0, len(asked.texts), embedder.batch_size):
        made = await embedder.embed(asked.texts[start : start + embedder.batch_size])
        vectors += [numpy.frombuffer(vector, "<f2").astype(float).tolist() for vector in made.vectors]
    return Embeddings(embeddings=vectors, model=embedder.model, dim=embedder.dimensions)
