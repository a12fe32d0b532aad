"""The two wire formats: OpenAI's /chat/completions and Anthropic's /v1/messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from penstock.pipeline.classify.llm.prompt import SCHEMA, Prompt

TOOL: Final = "classify"
ANTHROPIC_VERSION: Final = "2023-06-01"
MOST_TOKENS: Final = 200
LONGEST_ANSWER: Final = 10_000


class AnswerUnusable(Exception):
    """The answer is not what was asked for."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model said, not checked yet, and how many tokens that took."""

    said: Mapping[str, Any]
    tokens: int


class ModelWire(Protocol):
    def request(self, prompt: Prompt) -> ModelRequest: ...
    def read(self, content: bytes) -> ModelAnswer:
        """Raises AnswerUnusable."""


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    model: str
    key: str | None = field(repr=False)

    def request(self, prompt: Prompt) -> ModelRequest:
        schema = {"name": TOOL, "strict": True, "schema": SCHEMA}
        body = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        return ModelRequest("/chat/completions", headers, body)

    def read(self, content: bytes) -> ModelAnswer:
        answer = _object(content)
        try:
            said = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise AnswerUnusable("it has no message") from None
        if not isinstance(said, str) or len(said) > LONGEST_ANSWER:
            raise AnswerUnusable("its message is not a short text")
        usage = answer.get("usage")
        return ModelAnswer(_object(said), _number(usage, "total_tokens"))


@dataclass(frozen=True, slots=True)
class AnthropicMessages:
    model: str
    key: str | None = field(repr=False)

    def request(self, prompt: Prompt) -> ModelRequest:
        tool = {"name": TOOL, "description": "Says the class of the document.", "input_schema": SCHEMA}
        body = {
            "model": self.model,
            "max_tokens": MOST_TOKENS,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.user}],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": TOOL},
        }
        headers = {"anthropic-version": ANTHROPIC_VERSION}
        if self.key is not None:
            headers["x-api-key"] = self.key
        return ModelRequest("/v1/messages", headers, body)

    def read(self, content: bytes) -> ModelAnswer:
        answer = _object(content)
        parts = answer.get("content")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("type") == "tool_use" and part.get("name") == TOOL:
                said = part.get("input")
                if isinstance(said, dict):
                    usage = answer.get("usage")
                    tokens = _number(usage, "input_tokens") + _number(usage, "output_tokens")
                    return ModelAnswer(said, tokens)
        raise AnswerUnusable("it does not call the tool")


def _object(content: bytes | str) -> Mapping[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise AnswerUnusable("it is not JSON") from None
    if not isinstance(found, dict):
        raise AnswerUnusable("it is not a JSON object")
    return found


def _number(usage: object, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    is_count = isinstance(found, int) and not isinstance(found, bool)
    return min(max(found, 0), 10_000_000) if is_count and isinstance(found, int) else 0
