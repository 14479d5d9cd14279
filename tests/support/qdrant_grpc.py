"""The gRPC side of the Qdrant front: the same engine, its requests and answers converted by the client's own tables."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from pydantic import BaseModel
from qdrant_client import grpc as q
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.grpc import collections_service_pb2_grpc, points_service_pb2_grpc, qdrant_pb2_grpc
from qdrant_client.http import models

from support.qdrant_engine import QdrantEngine, Refused

Json = Any
_CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.ALREADY_EXISTS,
    422: grpc.StatusCode.INVALID_ARGUMENT,
}


class QdrantGrpcServer:
    """A running server. ``faults`` are what the next calls end with: a status, and what is told beside it."""

    def __init__(self, engine: QdrantEngine, *, api_key: str | None, version: str, scheme: str) -> None:
        self.engine = engine
        self.scheme = scheme
        self.api_key = api_key
        self.version = version
        self.faults: deque[tuple[grpc.StatusCode, tuple[tuple[str, str], ...]]] = deque()
        self.calls: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def served(self, context: grpc.ServicerContext, name: str, work: Callable[[], Json]) -> Json:
        """What ``work`` gives, unless the key is wrong, a fault is due or the engine refuses."""
        self.calls.append(name)
        if self.api_key is not None and dict(context.invocation_metadata()).get("api-key") != self.api_key:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "Invalid API key or JWT")
        if self.faults:
            code, metadata = self.faults.popleft()
            context.set_trailing_metadata(metadata)
            context.abort(code, "as the test wants")
        try:
            return work()
        except Refused as refused:
            context.abort(_CODES[refused.status], refused.message)


class _Collections(collections_service_pb2_grpc.CollectionsServicer):
    def __init__(self, server: QdrantGrpcServer) -> None:
        self.server = server

    def List(self, request: Json, context: grpc.ServicerContext) -> Json:
        found = self.server.served(context, "List", self.server.engine.names)
        return q.ListCollectionsResponse(collections=[q.CollectionDescription(name=each["name"]) for each in found["collections"]])

    def Get(self, request: Json, context: grpc.ServicerContext) -> Json:
        found = self.server.served(context, "Get", lambda: self.server.engine.info(request.collection_name))
        return q.GetCollectionInfoResponse(result=RestToGrpc.convert_collection_info(models.CollectionInfo(**found)))

    def Create(self, request: Json, context: grpc.ServicerContext) -> Json:
        vectors = {name: _plain(each) for name, each in GrpcToRest.convert_vectors_config(request.vectors_config).items()}
        made = self.server.served(context, "Create", lambda: self.server.engine.create(request.collection_name, {"vectors": vectors}))
        return q.CollectionOperationResponse(result=made)

    def Delete(self, request: Json, context: grpc.ServicerContext) -> Json:
        return q.CollectionOperationResponse(
            result=self.server.served(context, "Delete", lambda: self.server.engine.drop(request.collection_name))
        )


class _Points(points_service_pb2_grpc.PointsServicer):
    def __init__(self, server: QdrantGrpcServer) -> None:
        self.server = server

    def Upsert(self, request: Json, context: grpc.ServicerContext) -> Json:
        points = [_plain(GrpcToRest.convert_point_struct(point)) for point in request.points]
        self.server.served(context, "Upsert", lambda: self.server.engine.upsert(request.collection_name, {"points": points}))
        return _updated()

    def Delete(self, request: Json, context: grpc.ServicerContext) -> Json:
        selector = _plain(GrpcToRest.convert_points_selector(request.points))
        self.server.served(context, "Delete", lambda: self.server.engine.delete(request.collection_name, selector))
        return _updated()

    def CreateFieldIndex(self, request: Json, context: grpc.ServicerContext) -> Json:
        kind = "integer" if request.field_type == q.FieldType.FieldTypeInteger else "keyword"
        body = {"field_name": request.field_name, "field_schema": kind}
        self.server.served(context, "CreateFieldIndex", lambda: self.server.engine.index_field(request.collection_name, body))
        return _updated()

    def Get(self, request: Json, context: grpc.ServicerContext) -> Json:
        body = {"ids": [GrpcToRest.convert_point_id(each) for each in request.ids], **_selectors(request)}
        found = self.server.served(context, "Get", lambda: self.server.engine.retrieve(request.collection_name, body))
        return q.GetResponse(result=[_retrieved(each) for each in found])

    def Scroll(self, request: Json, context: grpc.ServicerContext) -> Json:
        offset = GrpcToRest.convert_point_id(request.offset) if request.HasField("offset") else None
        body = {"offset": offset, "limit": request.limit, "filter": _filter_of(request), **_selectors(request)}
        found = self.server.served(context, "Scroll", lambda: self.server.engine.scroll(request.collection_name, body))
        following = found["next_page_offset"]
        return q.ScrollResponse(
            result=[_retrieved(each) for each in found["points"]],
            next_page_offset=RestToGrpc.convert_extended_point_id(following) if following is not None else None,
        )

    def Query(self, request: Json, context: grpc.ServicerContext) -> Json:
        body = {
            "query": _plain(GrpcToRest.convert_query(request.query)),
            "using": request.using,
            "limit": request.limit,
            "offset": request.offset,
            "filter": _filter_of(request),
            **_selectors(request),
        }
        found = self.server.served(context, "Query", lambda: self.server.engine.query(request.collection_name, body))
        return q.QueryResponse(result=[RestToGrpc.convert_scored_point(models.ScoredPoint(**each)) for each in found["points"]])

    def Count(self, request: Json, context: grpc.ServicerContext) -> Json:
        body = {"filter": _filter_of(request)}
        return q.CountResponse(
            result=q.CountResult(**self.server.served(context, "Count", lambda: self.server.engine.count(request.collection_name, body)))
        )


class _Root(qdrant_pb2_grpc.QdrantServicer):
    def __init__(self, server: QdrantGrpcServer) -> None:
        self.server = server

    def HealthCheck(self, request: Json, context: grpc.ServicerContext) -> Json:
        return q.HealthCheckReply(title="qdrant - vector search engine", version=self.server.version)


@contextmanager
def qdrant_grpc_server(
    folder: Path, *, api_key: str | None = None, version: str = "1.18.0", tls: tuple[bytes, bytes] | None = None
) -> Iterator[QdrantGrpcServer]:
    """A server in threads of this process; ``tls`` is its key and its certificate."""
    engine = QdrantEngine(folder)
    server = QdrantGrpcServer(engine, api_key=api_key, version=version, scheme="grpc" if tls is None else "grpcs")
    with ThreadPoolExecutor(16) as pool:
        front = grpc.server(pool, options=[("grpc.max_receive_message_length", 32 * 2**20)])
        collections_service_pb2_grpc.add_CollectionsServicer_to_server(_Collections(server), front)
        points_service_pb2_grpc.add_PointsServicer_to_server(_Points(server), front)
        qdrant_pb2_grpc.add_QdrantServicer_to_server(_Root(server), front)
        place = "127.0.0.1:0"
        credentials = None if tls is None else grpc.ssl_server_credentials([tls])
        server.port = front.add_insecure_port(place) if credentials is None else front.add_secure_port(place, credentials)
        front.start()
        try:
            yield server
        finally:
            front.stop(None).wait()
            engine.close()


def _plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _updated() -> Json:
    return q.PointsOperationResponse(result=q.UpdateResult(operation_id=0, status=q.UpdateStatus.Completed))


def _filter_of(request: Json) -> Json:
    return _plain(GrpcToRest.convert_filter(request.filter)) if request.HasField("filter") else None


def _selectors(request: Json) -> Json:
    payload = GrpcToRest.convert_with_payload_selector(request.with_payload) if request.HasField("with_payload") else True
    vectors = GrpcToRest.convert_with_vectors_selector(request.with_vectors) if request.HasField("with_vectors") else False
    return {"with_payload": payload.include if isinstance(payload, models.PayloadSelectorInclude) else payload, "with_vector": vectors}


def _retrieved(record: Json) -> Json:
    return RestToGrpc.convert_retrieved_point(models.Record(**{**record, "payload": record["payload"] or {}}))
