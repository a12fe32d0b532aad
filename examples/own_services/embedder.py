"""An embedding service of your own: `PENSTOCK_BRAIN_URL=http://127.0.0.1:8090`, `PENSTOCK_EMBEDDER=brain`."""

import hashlib
import hmac
import os

from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

MODEL, DIMENSIONS = "letters-v1", 64
app = FastAPI()


class Texts(BaseModel):
    texts: list[str]


def embed(text: str) -> list[float]:
    """Put your model here. This one counts groups of three letters, to show the shape."""
    vector = [0.0] * DIMENSIONS
    for start in range(len(text) - 2):
        digest = hashlib.sha256(text[start : start + 3].lower().encode()).digest()
        vector[digest[0] % DIMENSIONS] += 1.0
    return vector


@app.post("/internal/embed")
def embed_all(body: Texts, x_brain_secret: str = Header("")) -> dict[str, object]:
    if not hmac.compare_digest(x_brain_secret, os.environ["PENSTOCK_BRAIN_API_SECRET"]):
        raise HTTPException(401, "wrong secret")
    return {"embeddings": [embed(text) for text in body.texts], "model": MODEL, "dim": DIMENSIONS}
