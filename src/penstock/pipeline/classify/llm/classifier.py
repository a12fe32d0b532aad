"""Asks a language model for the class; what it does not answer properly, the local classifier decides."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final
from uuid import UUID

import httpx2

from penstock.model import TenantId
from penstock.model.document_class import CLASSES, UNSURE
from penstock.net import AddressRefused, ResponseRefused, retry_after
from penstock.observe import get_logger
from penstock.pipeline.classify.llm.prompt import prompt_for
from penstock.pipeline.classify.llm.wire import AnswerUnusable, ModelAnswer, ModelWire
from penstock.pipeline.classify.protocol import FoundClass
from penstock.pipeline.classify.to_classify import ByContent, ToClassify

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool

log = get_logger(__name__)

VERSION: Final = 1
"""Raised whenever what is asked changes."""
PAUSE_SECONDS: Final = 30.0
"""After a failure it is left alone for this long, or for as long as it says."""
LONGEST_PAUSE: Final = 300.0
NOTE_USAGE: Final = "select accounts.note_usage($1, $2, 1, 1, 0)"


class Unanswered(Exception):
    """No answer; `seconds` until it makes sense to ask again."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = min(PAUSE_SECONDS if seconds is None else seconds, LONGEST_PAUSE)


class LlmClassifier:
    """While it does not answer, documents are sorted by `otherwise`; none waits and none is lost."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        tenants: TenantPool,
        wire: ModelWire,
        *,
        url: str,
        model: str,
        otherwise: ByContent,
    ) -> None:
        self._client = client
        self._tenants = tenants
        self._wire = wire
        self._url = url.rstrip("/")
        self._model = model
        self._otherwise = otherwise
        self._paused_until = 0.0

    @property
    def version(self) -> str:
        return f"llm-{self._model}-{VERSION}"

    async def found(self, tenant: str, asked: ToClassify) -> FoundClass | None:
        if time.monotonic() < self._paused_until:
            return await self._otherwise.found(tenant, asked)
        try:
            answer = await self._ask(asked)
        except Unanswered as failed:
            self._paused_until = time.monotonic() + failed.seconds
            log.warning(
                "classifier_unavailable", classifier="llm", reason=str(failed), seconds=failed.seconds
            )
            return await self._otherwise.found(tenant, asked)
        except AnswerUnusable as wrong:
            return self._kept(f"its answer was not used: {wrong}")
        async with self._tenants.transaction(TenantId(UUID(tenant)), durable=False) as conn:
            await conn.execute(NOTE_USAGE, f"llm:{self._model}"[:200], answer.tokens)
        return self._read(answer)

    def _read(self, answer: ModelAnswer) -> FoundClass:
        name, is_sure = answer.said.get("class"), answer.said.get("is_sure")
        if not isinstance(name, str) or name not in CLASSES or not isinstance(is_sure, bool):
            return self._kept("its answer was not used: it is none of the classes")
        if not is_sure and CLASSES[name] == "skip":
            reason = {"reason": f"the model thinks of {name} but is not sure"}
            return FoundClass(name=UNSURE, score=0.0, reasons=(reason,), version=self.version)
        reasons = ({"reason": f"the model says {name}"},)
        return FoundClass(name=name, score=1.0 if is_sure else 0.0, reasons=reasons, version=self.version)

    def _kept(self, reason: str) -> FoundClass:
        """What the model wrote is not logged: it may repeat the document."""
        log.warning("classifier_answer_refused", model=self._model, reason=reason)
        return FoundClass(name=UNSURE, score=0.0, reasons=({"reason": reason},), version=self.version)

    async def _ask(self, asked: ToClassify) -> ModelAnswer:
        request = self._wire.request(prompt_for(asked))
        try:
            response = await self._client.post(
                self._url + request.path, headers=request.headers, json=request.body
            )
        except (AddressRefused, ResponseRefused) as refused:
            raise Unanswered(refused.message) from refused
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Unanswered(f"no answer ({type(error).__name__})") from error
        if response.status_code != 200:
            raise Unanswered(f"it answered {response.status_code}", retry_after(response.headers))
        return self._wire.read(response.content)
