"""Creates the language model's classifier from the settings; None if there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.net.outbound import open_client
from penstock.pipeline.classify.llm.classifier import LlmClassifier
from penstock.pipeline.classify.llm.wire import AnthropicMessages, ModelWire, OpenAIChat

if TYPE_CHECKING:
    import httpx2

    from penstock.db.tenancy import TenantPool
    from penstock.pipeline.classify.to_classify import ByContent
    from penstock.settings import Settings

URLS: Final = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
MOST_BYTES: Final = 200_000


def open_llm_client(settings: Settings) -> httpx2.AsyncClient:
    return open_client(
        allow_private=settings.allow_private_addresses,
        max_answer_bytes=MOST_BYTES,
        total_seconds=settings.classifier_seconds,
    )


def make_llm(
    settings: Settings, client: httpx2.AsyncClient, tenants: TenantPool, otherwise: ByContent
) -> LlmClassifier | None:
    model = settings.classifier_model
    if model is None:
        return None
    key = settings.classifier_api_key
    wire: ModelWire = (
        AnthropicMessages(model, key)
        if settings.classifier_provider == "anthropic"
        else OpenAIChat(model, key)
    )
    url = settings.classifier_url or URLS[settings.classifier_provider]
    return LlmClassifier(client, tenants, wire, url=url, model=model, otherwise=otherwise)
