"""Collections as the Qdrant server has them, on the engine in this process: what it takes, what it refuses and with which words.

Requests and answers are the bodies of the REST API. Every collection is in strict mode: filters by fields without an index are refused.
"""

import json
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID

from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    IntegerIndexParams,
    KeywordIndexParams,
    MatchAny,
    MatchValue,
    Point,
    Query,
    QueryRequest,
    ScrollRequest,
    UpdateOperation,
)

Json = Any
_DISTANCES = {"Cosine": Distance.Cosine, "Dot": Distance.Dot, "Euclid": Distance.Euclid}
_SETTINGS = "collection.json"


class Refused(Exception):
    """The server's answer to a request that it does not serve."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


@dataclass
class Collection:
    """One collection; the engine is used by one thread at a time."""

    name: str
    vectors: dict[str, Json]
    fields: dict[str, Json]
    shard: EdgeShard
    lock: threading.Lock = field(default_factory=threading.Lock)


class QdrantEngine:
    """All collections of one server, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._collections: dict[str, Collection] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for home in sorted(folder.iterdir()):
            if (home / _SETTINGS).exists():
                name, made = unquote(home.name), json.loads((home / _SETTINGS).read_text())
                self._collections[name] = Collection(name, made["vectors"], made["fields"], EdgeShard.load(str(home / "shard")))
            else:
                shutil.rmtree(home)

    def close(self) -> None:
        for collection in self._collections.values():
            collection.shard.close()

    def names(self) -> Json:
        return {"collections": [{"name": name} for name in list(self._collections)]}

    def create(self, name: str, body: Json) -> Json:
        vectors = body.get("vectors")
        if not isinstance(vectors, dict) or not vectors or "size" in vectors:
            raise Refused(422, "only named vectors are served here")
        with self._lock:
            if name in self._collections:
                raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
            home = self._home(name)
            (home / "shard").mkdir(parents=True)
            parameters = {key: EdgeVectorParams(size=each["size"], distance=_DISTANCES[each["distance"]]) for key, each in vectors.items()}
            optimizers = EdgeOptimizersConfig(indexing_threshold=1_000_000_000)
            shard = EdgeShard.create(str(home / "shard"), EdgeConfig(vectors=parameters, optimizers=optimizers))
            self._collections[name] = self._noted(Collection(name, vectors, {}, shard))
        return True

    def drop(self, name: str) -> Json:
        with self._lock:
            found = self._collections.pop(name, None)
        if found is None:
            return False
        with found.lock:
            found.shard.close()
            shutil.rmtree(self._home(name))
        return True

    def info(self, name: str) -> Json:
        found = self._collection(name)
        with found.lock:
            points = found.shard.count(CountRequest(exact=True))
        return {
            "status": "green",
            "optimizer_status": "ok",
            "indexed_vectors_count": 0,
            "points_count": points,
            "segments_count": 1,
            "config": {
                "params": {
                    "vectors": found.vectors,
                    "shard_number": 1,
                    "replication_factor": 1,
                    "write_consistency_factor": 1,
                    "on_disk_payload": True,
                },
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000, "max_indexing_threads": 0, "on_disk": False},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "indexing_threshold": 10000,
                    "flush_interval_sec": 5,
                },
                "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
                "strict_mode_config": {"enabled": True, "unindexed_filtering_retrieve": False, "unindexed_filtering_update": False},
            },
            "payload_schema": {key: {"data_type": _kind(schema), "points": points} for key, schema in found.fields.items()},
        }

    def index_field(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        schema = body["field_schema"]
        index = IntegerIndexParams(lookup=True, range=False) if _kind(schema) == "integer" else KeywordIndexParams()
        with found.lock:
            found.shard.update(UpdateOperation.create_field_index(body["field_name"], index))
            found.fields[body["field_name"]] = schema
            self._noted(found)
        return _updated()

    def upsert(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        points = [_point(found, each) for each in body["points"]]
        with found.lock:
            found.shard.update(UpdateOperation.upsert_points(points))
        return _updated()

    def delete(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        if "points" in body:
            ids: list[Any] = [_point_id(each) for each in body["points"]]
        else:
            chosen = _filter(found, body["filter"])
            with found.lock:
                ids = [point.id for point in found.shard.scroll(ScrollRequest(limit=10_000_000, filter=chosen))[0]]
        with found.lock:
            found.shard.update(UpdateOperation.delete_points(ids))
        return _updated()

    def retrieve(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        ids = [_point_id(each) for each in body["ids"]]
        with found.lock:
            points = found.shard.retrieve(ids, body.get("with_payload", True), body.get("with_vector", False))
        return [_record(point) for point in points]

    def scroll(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        request = ScrollRequest(
            offset=_point_id(body["offset"]) if body.get("offset") is not None else None,
            limit=body.get("limit", 10),
            filter=_filter(found, body.get("filter")),
            with_payload=body.get("with_payload", True),
            with_vector=body.get("with_vector", False),
        )
        with found.lock:
            points, following = found.shard.scroll(request)
        return {"points": [_record(point) for point in points], "next_page_offset": _plain_id(following)}

    def query(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        vector = body["query"]["nearest"] if isinstance(body["query"], dict) else body["query"]
        using = body.get("using") or ""
        _check_vector(found, using, vector)
        request = QueryRequest(
            limit=body.get("limit", 10),
            offset=body.get("offset"),
            query=Query.Nearest(vector, using=using),
            filter=_filter(found, body.get("filter")),
            with_payload=body.get("with_payload", False),
        )
        with found.lock:
            points = found.shard.query(request)
        return {"points": [{**_record(point), "version": point.version, "score": point.score} for point in points]}

    def count(self, name: str, body: Json) -> Json:
        found = self._collection(name)
        with found.lock:
            return {"count": found.shard.count(CountRequest(exact=True, filter=_filter(found, body.get("filter"))))}

    def _home(self, name: str) -> Path:
        return self._folder / quote(name, safe="")

    def _collection(self, name: str) -> Collection:
        found = self._collections.get(name)
        if found is None:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return found

    def _noted(self, collection: Collection) -> Collection:
        path = self._home(collection.name) / _SETTINGS
        beside = path.with_suffix(".tmp")
        beside.write_text(json.dumps({"vectors": collection.vectors, "fields": collection.fields}))
        beside.replace(path)
        return collection


Operation = Callable[[str, Json], Json]


def _kind(schema: Json) -> str:
    return str(schema["type"] if isinstance(schema, dict) else schema)


def _updated() -> Json:
    return {"operation_id": 0, "status": "completed"}


def _point(found: Collection, body: Json) -> Point:
    for name, vector in body["vector"].items():
        _check_vector(found, name, vector)
    return Point(_point_id(body["id"]), body["vector"], body.get("payload"))


def _check_vector(found: Collection, name: str, vector: Json) -> None:
    if name not in found.vectors:
        raise Refused(400, f"Wrong input: Not existing vector name error: {name}")
    size = found.vectors[name]["size"]
    if len(vector) != size:
        raise Refused(400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(vector)}")


def _point_id(value: Json) -> int | UUID:
    if isinstance(value, int):
        return value
    with suppress(ValueError):
        return UUID(value)
    raise Refused(
        400, f"Format error in JSON body: value {value} is not a valid point ID, valid values are either an unsigned integer or a UUID"
    )


def _plain_id(value: Any) -> Json:
    return str(value) if isinstance(value, UUID) else value


def _record(point: Any) -> Json:
    return {"id": _plain_id(point.id), "payload": point.payload, "vector": point.vector}


def _filter(found: Collection, body: Json) -> Filter | None:
    if not body:
        return None
    unknown = {key for key, conditions in body.items() if conditions} - {"must", "must_not"}
    if unknown:
        raise Refused(422, f"not served here: {sorted(unknown)}")
    must, must_not = ([_condition(found, each) for each in body.get(key) or []] for key in ("must", "must_not"))
    return Filter(must=[*must], must_not=[*must_not])


def _condition(found: Collection, body: Json) -> FieldCondition:
    key, match = body["key"], body["match"]
    values = match["any"] if "any" in match else [match["value"]]
    wanted = "integer" if values and isinstance(values[0], int) else "keyword"
    if key not in found.fields or _kind(found.fields[key]) != wanted:
        raise Refused(
            400,
            f'Bad request: Index required but not found for "{key}" of one of the following types: [{wanted}].'
            " Help: Create an index for this key or use a different filter.",
        )
    return FieldCondition(key, match=MatchAny(values) if "any" in match else MatchValue(values[0]))
