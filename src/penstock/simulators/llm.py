"""A simulated language model behind OpenAI's /chat/completions and Anthropic's /v1/messages.

It sorts by key words, as far as tests need it. It can be told to answer anything, to fail, or to be obedient:
to follow an instruction it finds in the document, as a bad model would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from penstock.simulators.faults import Faults, response_for

if TYPE_CHECKING:
    from starlette.requests import Request

KEY: Final = "simulated-key"
WORDS: Final = {
    "invoice": ("invoice", "rechnung", "facture", "factura"),
    "newsletter": ("newsletter", "unsubscribe"),
    "marketing_material": ("brochure", "discount", "webinar"),
    "personal": ("birthday", "lunch"),
}
_ORDERED: Final = re.compile(r"classify (?:me|this) as (?:an? )?([a-z_]{1,40})", re.IGNORECASE)


class LlmSimulator:
    """`said` replaces the answer; `is_obedient` follows instructions in the document."""

    def __init__(self, *, key: str = KEY, is_obedient: bool = False) -> None:
        self.key = key
        self.is_obedient = is_obedient
        self.said: Any = None
        self.faults = Faults()
        self.calls = 0
        self.bodies: list[Mapping[str, Any]] = []
        self.app = Starlette(
            routes=[
                Route("/v1/chat/completions", self._openai, methods=["POST"]),
                Route("/v1/messages", self._anthropic, methods=["POST"]),
            ]
        )

    async def _openai(self, request: Request) -> Response:
        body = await request.json()
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if (early := await self._begin(request, body, key)) is not None:
            return early
        said = self._answer(body["messages"][-1]["content"])
        content = said if isinstance(said, str) else json.dumps(said)
        return JSONResponse(
            {
                "id": "simulated",
                "object": "chat.completion",
                "model": body["model"],
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": content},
                        "finish_reason": "stop",
                    }
                ],
                "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100},
            }
        )

    async def _anthropic(self, request: Request) -> Response:
        body = await request.json()
        if (early := await self._begin(request, body, request.headers.get("x-api-key", ""))) is not None:
            return early
        said = self._answer(body["messages"][-1]["content"])
        is_text = isinstance(said, str)
        part = (
            {"type": "text", "text": said}
            if is_text
            else {"type": "tool_use", "id": "simulated", "name": body["tools"][0]["name"], "input": said}
        )
        return JSONResponse(
            {
                "id": "simulated",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": [part],
                "stop_reason": "end_turn" if is_text else "tool_use",
                "usage": {"input_tokens": 90, "output_tokens": 10},
            }
        )

    async def _begin(self, request: Request, body: Mapping[str, Any], key: str) -> Response | None:
        self.calls += 1
        self.bodies.append(body)
        fault = self.faults.take()
        if fault is not None and (answer := await response_for(fault, request)) is not None:
            return answer
        if key != self.key:
            return JSONResponse({"error": {"message": "invalid api key"}}, 401)
        return None

    def _answer(self, document: str) -> Any:
        if self.said is not None:
            return self.said
        if self.is_obedient and (ordered := _ORDERED.search(document)):
            return {"class": ordered[1], "is_sure": True}
        text = _ORDERED.sub("", document).lower()
        found = {name: sum(text.count(word) for word in words) for name, words in WORDS.items()}
        best = max(found, key=lambda name: found[name])
        return {"class": best if found[best] else "other", "is_sure": True}
