"""A Qdrant server on loopback: its HTTP API over its own engine, with faults on demand.

Requests are read by the models of Qdrant's client, which refuse a field they do not know. It has the part of
the API that the index uses, and one shard; a server also has replicas, snapshots, a background optimiser and
limits of its own.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import models
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from penstock.simulators.faults import Fault, Faults, response_for
from penstock.simulators.qdrant_engine import Shard, WrongInput

if TYPE_CHECKING:
    from starlette.requests import Request

VERSION: Final = "1.16.0-simulated"
MOST_BYTES: Final = 32 * 2**20
"""The server's own limit of a request."""

T = TypeVar("T", bound=BaseModel)
_SELECTOR: Final = TypeAdapter[Any](models.PointsSelector)
_FAULTS: Final = TypeAdapter[dict[str, list[Fault]]](dict[str, list[Fault]])


class QdrantSimulator:
    """`faults` hit any request, `faults_of["upsert"]` only those of one operation."""

    def __init__(self, folder: Path | None = None, *, key: str | None = None) -> None:
        self._temporary = None if folder is not None else tempfile.TemporaryDirectory(prefix="qdrant-")
        self.folder = folder or Path(self._temporary.name if self._temporary is not None else "")
        self.key = key
        self.faults = Faults()
        self.faults_of: dict[str, Faults] = defaultdict(Faults)
        self.requests: list[tuple[str, str, Any]] = []
        """Operation, collection and body of every request that was carried out."""
        self.shards: dict[str, Shard] = {}
        self._made = 0
        self.app = Starlette(routes=self._routes())

    def close(self) -> None:
        for name in list(self.shards):
            self.delete(name)
        if self._temporary is not None:
            self._temporary.cleanup()

    def delete(self, name: str) -> bool:
        """Delete a collection, as somebody else might at any time."""
        shard = self.shards.pop(name, None)
        if shard is not None:
            shard.close()
        return shard is not None

    def count(self, operation: str) -> int:
        return sum(1 for done, _, _ in self.requests if done == operation)

    def _routes(self) -> list[Route]:
        one = "/collections/{name}"
        table: list[tuple[str, str, str, Callable[[str, Any], Any], Any]] = [
            ("PUT", one, "create", self._create, models.CreateCollection),
            ("DELETE", one, "drop", lambda name, _: self.delete(name), None),
            ("GET", one, "look", self._look, None),
            ("GET", f"{one}/exists", "exists", lambda name, _: {"exists": name in self.shards}, None),
            ("PUT", f"{one}/index", "index", self._on(Shard.add_index), models.CreateFieldIndex),
            ("PUT", f"{one}/points", "upsert", self._upsert, models.PointsList),
            ("POST", f"{one}/points/payload", "payload", self._payload, models.SetPayload),
            ("POST", f"{one}/points/delete", "delete", self._delete, _SELECTOR),
            ("POST", f"{one}/points/count", "count", self._count, models.CountRequest),
            ("POST", f"{one}/points/scroll", "scroll", self._on(Shard.scroll), models.ScrollRequest),
            ("POST", f"{one}/points/query", "query", self._query, models.QueryRequest),
            ("GET", "/collections", "list", self._list, None),
        ]
        routes = [
            Route(path, self._endpoint(operation, call, model), methods=[method])
            for method, path, operation, call, model in table
        ]
        return [
            Route("/", self._info),
            Route("/_control/faults", self._control, methods=["PUT"]),
            Route("/_control/optimise", self._optimise, methods=["POST"]),
            *routes,
        ]

    def _endpoint(self, operation: str, call: Callable[[str, Any], Any], model: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            fault = self.faults_of[operation].take() or self.faults.take()
            if fault is not None and (answer := await response_for(fault, request)) is not None:
                return answer
            if self.key is not None and request.headers.get("api-key") != self.key:
                return _error(401, "Must provide an API key or an Authorization bearer token")
            raw = await request.body()
            if len(raw) > MOST_BYTES:
                return _error(413, "Payload too large")
            name = request.path_params.get("name", "")
            try:
                body = None if model is None else _read(model, raw)
                result = await asyncio.to_thread(call, name, body)
            except (ValidationError, WrongInput) as error:
                return _error(400, f"Wrong input: {error}")
            except KeyError:
                return _error(404, f"Not found: Collection `{name}` doesn't exist!")
            except FileExistsError:
                return _error(409, f"Wrong input: Collection `{name}` already exists!")
            self.requests.append((operation, name, body))
            return JSONResponse({"result": result, "status": "ok", "time": 0.0})

        return endpoint

    async def _info(self, request: Request) -> Response:
        return JSONResponse({"title": "qdrant - vector search engine", "version": VERSION, "commit": ""})

    async def _control(self, request: Request) -> Response:
        """Replace all faults: the body has operations (or "any") and the faults of their next requests."""
        self.faults.clear()
        self.faults_of.clear()
        for operation, faults in _FAULTS.validate_json(await request.body()).items():
            for fault in faults:
                (self.faults if operation == "any" else self.faults_of[operation]).add(fault)
        return JSONResponse({"faults": "set"})

    async def _optimise(self, request: Request) -> Response:
        """Merge segments and build graphs now."""
        for shard in list(self.shards.values()):
            await asyncio.to_thread(shard.optimise)
        return JSONResponse({"optimised": len(self.shards)})

    def _list(self, name: str, body: None) -> Any:
        return {"collections": [{"name": known} for known in self.shards]}

    def _create(self, name: str, wanted: models.CreateCollection) -> bool:
        if name in self.shards:
            raise FileExistsError(name)
        self._made += 1
        self.shards[name] = Shard.create(self.folder / f"{self._made}", wanted)
        return True

    def _look(self, name: str, body: None) -> Any:
        shard = self.shards[name]
        config = shard.config.model_dump(mode="json", exclude_none=True)
        chosen = ("vectors", "sparse_vectors", "shard_number", "replication_factor")
        count = shard.shard.info().points_count
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": count,
            "indexed_vectors_count": count,
            "segments_count": 1,
            "config": {
                "params": {key: config[key] for key in chosen if key in config},
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1_000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
            },
            "payload_schema": shard.indexes,
        }

    def _on(self, method: Callable[[Shard, Any], Any]) -> Callable[[str, Any], Any]:
        return lambda name, body: (
            method(self.shards[name], body) or {"operation_id": 0, "status": "completed"}
        )

    def _upsert(self, name: str, body: models.PointsList) -> Any:
        self.shards[name].upsert(body.points)
        return {"operation_id": 0, "status": "completed"}

    def _payload(self, name: str, body: models.SetPayload) -> Any:
        if body.filter is None:
            raise WrongInput("the simulator sets payloads only by a filter")
        self.shards[name].set_payload(body.payload, body.filter)
        return {"operation_id": 0, "status": "completed"}

    def _delete(self, name: str, body: Any) -> Any:
        if not isinstance(body, models.FilterSelector):
            raise WrongInput("the simulator deletes points only by a filter")
        self.shards[name].delete(body.filter)
        return {"operation_id": 0, "status": "completed"}

    def _count(self, name: str, body: models.CountRequest) -> Any:
        return {"count": self.shards[name].count(body)}

    def _query(self, name: str, body: models.QueryRequest) -> Any:
        return {"points": self.shards[name].query(body)}


def _read(model: Any, raw: bytes) -> Any:
    if isinstance(model, TypeAdapter):
        return model.validate_json(raw)
    return model.model_validate_json(raw)


def _error(status: int, message: str) -> Response:
    return JSONResponse({"status": {"error": message}, "time": 0.0}, status)
