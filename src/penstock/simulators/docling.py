"""A simulated docling-serve: accepts a file, can be polled for a while, returns Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from penstock.simulators.faults import Faults, response_for

if TYPE_CHECKING:
    from starlette.requests import Request

KEY: Final = "simulated-key"


class DoclingSimulator:
    """Speaks version 1 of the API. It finds `pages` in every file, and is not done for `polls` requests."""

    def __init__(
        self, *, key: str = KEY, pages: tuple[str, ...] = ("# Read by Docling",), polls: int = 1
    ) -> None:
        self.key = key
        self.pages = pages
        self.polls = polls
        self.status = "success"
        self.errors: list[str] = []
        self.faults = Faults()
        self.received: list[tuple[str, bytes]] = []
        """The names and contents of the received files."""
        self.options: list[dict[str, str]] = []
        self._left: dict[str, int] = {}
        self.app = Starlette(
            routes=[
                Route("/v1/convert/file/async", self._convert, methods=["POST"]),
                Route("/v1/status/poll/{task}", self._poll),
                Route("/v1/result/{task}", self._result),
            ]
        )

    async def _early(self, request: Request) -> Response | None:
        if fault := self.faults.take():
            return await response_for(fault, request)
        if request.headers.get("x-api-key") != self.key:
            return JSONResponse({"detail": "Api key is required or invalid"}, 401)
        task = request.path_params.get("task")
        return JSONResponse({"detail": "Task not found."}, 404) if task and task not in self._left else None

    async def _convert(self, request: Request) -> Response:
        if (early := await self._early(request)) is not None:
            return early
        async with request.form() as form:
            self.options.append({name: value for name, value in form.items() if isinstance(value, str)})
            for file in form.getlist("files"):
                assert isinstance(file, UploadFile)
                self.received.append((file.filename or "", await file.read()))
        task = str(uuid4())
        self._left[task] = self.polls
        return JSONResponse(self._task(task, "pending"))

    async def _poll(self, request: Request) -> Response:
        if (early := await self._early(request)) is not None:
            return early
        task = request.path_params["task"]
        self._left[task] -= 1
        return JSONResponse(self._task(task, "started" if self._left[task] >= 0 else "success"))

    async def _result(self, request: Request) -> Response:
        if (early := await self._early(request)) is not None:
            return early
        mark = f"\n\n{self.options[-1].get('md_page_break_placeholder', '')}\n\n"
        errors = [
            {"component_type": "document_backend", "module_name": "sim", "error_message": said}
            for said in self.errors
        ]
        document = {
            "filename": self.received[-1][0],
            "md_content": mark.join(self.pages),
            "text_content": None,
        }
        answer = {"document": document, "status": self.status, "errors": errors, "processing_time": 0.1}
        return JSONResponse(answer | {"timings": {}})

    @staticmethod
    def _task(task: str, status: str) -> dict[str, Any]:
        return {
            "task_id": task,
            "task_type": "convert",
            "task_status": status,
            "task_position": 1,
            "task_meta": None,
        }
