"""Qdrant's engine in this process: collections as shards in a folder, driven by the client's own models.

The engine has a fault: a condition on true or false matches nothing. Booleans are therefore stored as words,
and come out as booleans again.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import qdrant_edge as edge
from qdrant_client import models

WORDS: Final = {True: "\ue000true", False: "\ue000false"}
BOOLS: Final = {word: value for value, word in WORDS.items()}
OPTIMISE_EVERY: Final = 20_000
"""Points after which segments are merged and graphs built, as a server does in the background."""

_INDEXES: Final = {
    "keyword": edge.KeywordIndexParams,
    "bool": edge.KeywordIndexParams,
    "integer": edge.IntegerIndexParams,
}


class WrongInput(Exception):
    """What the server would answer with 400."""


@dataclass(slots=True)
class Shard:
    """One collection."""

    folder: Path
    config: models.CreateCollection
    shard: edge.EdgeShard
    indexes: dict[str, Any] = field(default_factory=dict)
    writing: threading.Lock = field(default_factory=threading.Lock)
    unoptimised: int = 0

    @classmethod
    def create(cls, folder: Path, config: models.CreateCollection) -> Shard:
        return cls(folder, config, edge.EdgeShard.create(str(folder), _config(config)))

    def close(self) -> None:
        with self.writing:
            self.shard.close()
            shutil.rmtree(self.folder)

    def add_index(self, wanted: models.CreateFieldIndex) -> None:
        given = wanted.field_schema
        if isinstance(given, models.PayloadSchemaType):
            kind, shown = given.value, None
        elif isinstance(given, models.KeywordIndexParams):
            kind, shown = "keyword", given.model_dump(mode="json")
        else:
            raise WrongInput(f"the simulator cannot make the index {given!r}")
        if kind not in _INDEXES:
            raise WrongInput(f"the simulator has no index of the kind {kind}")
        options = {"is_tenant": given.is_tenant} if isinstance(given, models.KeywordIndexParams) else {}
        with self.writing:
            made = _INDEXES[kind](**options)
            self.shard.update(edge.UpdateOperation.create_field_index(wanted.field_name, made))
        self.indexes[wanted.field_name] = {
            "data_type": kind,
            "params": shown,
            "points": self.shard.info().points_count,
        }

    def upsert(self, points: Sequence[models.PointStruct]) -> None:
        sizes = {name: params.size for name, params in _dense(self.config).items()}
        for point in points:
            for name, vector in _named(point.vector).items():
                if isinstance(vector, list) and len(vector) != sizes.get(name):
                    raise WrongInput(
                        f"Vector dimension error: expected dim: {sizes.get(name)}, got {len(vector)}"
                    )
        made = [
            edge.Point(
                point.id,
                {name: _vector(vector) for name, vector in _named(point.vector).items()},
                _worded(point.payload or {}),
            )
            for point in points
        ]
        with self.writing:
            self.shard.update(edge.UpdateOperation.upsert_points(made))
            self.unoptimised += len(made)
            if self.unoptimised >= OPTIMISE_EVERY:
                self._optimise()

    def optimise(self) -> None:
        with self.writing:
            self._optimise()

    def _optimise(self) -> None:
        self.shard.optimize()
        self.unoptimised = 0

    def set_payload(self, payload: Mapping[str, Any], within: models.Filter) -> None:
        with self.writing:
            self.shard.update(edge.UpdateOperation.set_payload_by_filter(_filter(within), _worded(payload)))

    def delete(self, within: models.Filter) -> None:
        with self.writing:
            self.shard.update(edge.UpdateOperation.delete_points_by_filter(_filter(within)))

    def count(self, wanted: models.CountRequest) -> int:
        within = None if wanted.filter is None else _filter(wanted.filter)
        return self.shard.count(edge.CountRequest(exact=True, filter=within))

    def scroll(self, wanted: models.ScrollRequest) -> dict[str, Any]:
        offset = UUID(wanted.offset) if isinstance(wanted.offset, str) else wanted.offset
        records, following = self.shard.scroll(
            edge.ScrollRequest(
                offset=offset,
                limit=wanted.limit or 10,
                filter=None if wanted.filter is None else _filter(wanted.filter),
                with_payload=_fields(wanted.with_payload),
                with_vector=bool(wanted.with_vector),
            )
        )
        points = [_shown(record) for record in records]
        return {"points": points, "next_page_offset": None if following is None else str(following)}

    def query(self, wanted: models.QueryRequest) -> list[dict[str, Any]]:
        if wanted.prefetch is not None or wanted.query is None:
            raise WrongInput("the simulator answers only plain queries by a vector")
        asked = wanted.query.nearest if isinstance(wanted.query, models.NearestQuery) else wanted.query
        given = wanted.params or models.SearchParams()
        found = self.shard.query(
            edge.QueryRequest(
                limit=wanted.limit or 10,
                query=edge.Query.Nearest(_vector(asked), using=wanted.using),
                filter=None if wanted.filter is None else _filter(wanted.filter),
                with_payload=_fields(wanted.with_payload),
                params=edge.SearchParams(hnsw_ef=given.hnsw_ef, exact=bool(given.exact)),
            )
        )
        return [{**_shown(point), "version": point.version, "score": point.score} for point in found]


def _config(wanted: models.CreateCollection) -> edge.EdgeConfig:
    graphs = wanted.hnsw_config or models.HnswConfigDiff()
    sparse = {
        name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if params.modifier is not None else None)
        for name, params in (wanted.sparse_vectors or {}).items()
    }
    return edge.EdgeConfig(
        vectors={
            name: edge.EdgeVectorParams(size=params.size, distance=_distance(params.distance))
            for name, params in _dense(wanted).items()
        },
        sparse_vectors=sparse,
        hnsw_config=edge.HnswIndexConfig(
            m=16 if graphs.m is None else graphs.m,
            ef_construct=graphs.ef_construct or 100,
            full_scan_threshold=graphs.full_scan_threshold or 10_000,
            payload_m=graphs.payload_m,
        ),
    )


def _dense(config: models.CreateCollection) -> dict[str, models.VectorParams]:
    if not isinstance(config.vectors, dict):
        raise WrongInput("the simulator needs vectors with names")
    return config.vectors


def _distance(wanted: models.Distance) -> edge.Distance:
    found: edge.Distance = getattr(edge.Distance, wanted.value)
    return found


def _named(vector: Any) -> dict[str, Any]:
    if not isinstance(vector, dict):
        raise WrongInput("the simulator needs vectors with names")
    return vector


def _vector(given: Any) -> Any:
    if isinstance(given, models.SparseVector):
        return edge.SparseVector(given.indices, given.values)
    return given


def _filter(wanted: models.Filter) -> edge.Filter:
    def conditions(given: Any) -> list[Any] | None:
        if given is None:
            return None
        return [_condition(one) for one in (given if isinstance(given, list) else [given])]

    if wanted.min_should is not None:
        raise WrongInput("the simulator knows no min_should")
    return edge.Filter(
        must=conditions(wanted.must), should=conditions(wanted.should), must_not=conditions(wanted.must_not)
    )


def _condition(wanted: Any) -> Any:
    match wanted:
        case models.FieldCondition(key=key, match=models.MatchValue(value=value)):
            word = WORDS[value] if isinstance(value, bool) else value
            return edge.FieldCondition(key, match=edge.MatchValue(word))
        case models.FieldCondition(key=key, match=models.MatchAny() as wanted_any):
            return edge.FieldCondition(key, match=edge.MatchAny(wanted_any.any))
        case models.HasIdCondition(has_id=ids):
            return edge.HasIdCondition({UUID(one) if isinstance(one, str) else one for one in ids})
        case models.Filter():
            return _filter(wanted)
    raise WrongInput(f"the simulator does not know the condition {wanted!r}")


def _fields(wanted: Any) -> Any:
    return edge.PayloadSelector.Include(list(wanted)) if isinstance(wanted, list) else bool(wanted)


def _shown(point: Any) -> dict[str, Any]:
    vector = point.vector
    if isinstance(vector, dict):
        vector = {
            name: {"indices": one.indices, "values": one.values}
            if isinstance(one, edge.SparseVector)
            else one
            for name, one in vector.items()
        }
    payload = None if point.payload is None else _unworded(point.payload)
    return {"id": str(point.id), "payload": payload, "vector": vector}


def _worded(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: WORDS[value] if isinstance(value, bool) else value for key, value in payload.items()}


def _unworded(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: BOOLS.get(value, value) if isinstance(value, str) else value for key, value in payload.items()
    }
