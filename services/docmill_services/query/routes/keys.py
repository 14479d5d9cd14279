"""API keys: make, list, revoke; for administrators of all knowledge bases."""

import time

from fastapi import APIRouter
from starlette.responses import Response

from docmill.domain.access import ApiKey, Right
from docmill.domain.errors import KeyUnknown, KnowledgeBaseUnknown, NotAvailable
from docmill.ports.keys import KeyStore
from docmill_services.query.context import Context, json_response
from docmill_services.query.guard import new_key
from docmill_services.query.openapi import problems
from docmill_services.query.render import time_of
from docmill_services.query.requests import KeyBody
from docmill_services.query.responses import KeyMadeReply, KeyReply, KeysReply
from docmill_services.query.strict_json import StrictJsonRoute


def key_routes(context: Context) -> APIRouter:
    """The keys of the service."""
    router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=StrictJsonRoute)

    @router.get("", response_model=KeysReply, responses=problems(501, 503))
    async def list_keys() -> Response:
        """All keys, without the keys themselves."""
        store = _store(context)
        return json_response(KeysReply(keys=[key_reply(key) for key in await context.work.run(store.all)]))

    @router.post("", status_code=201, response_model=KeyMadeReply, responses=problems(400, 404, 422, 501, 503))
    async def make_key(body: KeyBody) -> Response:
        """A new key; it is shown in this answer and never again."""
        store = _store(context)
        for name in body.knowledge_bases or ():
            if name not in context.knowledge_bases:
                raise KnowledgeBaseUnknown(f"no knowledge base is called {name[:100]!r}")
        key, secret = new_key(
            body.name,
            Right(body.right),
            None if body.knowledge_bases is None else tuple(body.knowledge_bases),
            expires_at=None if body.expires_in_seconds is None else time.time() + body.expires_in_seconds,
            requests_per_minute=body.requests_per_minute,
        )
        await context.work.run(lambda: store.put(key))
        context.guard.forget()
        response = json_response(KeyMadeReply.model_validate({**key_reply(key).model_dump(), "key": secret}), 201)
        response.headers["cache-control"] = "no-store"
        return response

    @router.delete("/{key_id}", status_code=204, response_model=None, responses=problems(404, 501, 503))
    async def revoke_key(key_id: str) -> Response:
        """Revokes a key: within two seconds every process refuses it."""
        store = _store(context)
        if not await context.work.run(lambda: store.remove(key_id)):
            raise KeyUnknown(f"there is no key {key_id[:100]!r}")
        context.guard.forget()
        return Response(status_code=204)

    return router


def _store(context: Context) -> KeyStore:
    if context.keys is None:
        raise NotAvailable("this service keeps no keys")
    return context.keys


def key_reply(key: ApiKey) -> KeyReply:
    """A key, without the key itself."""
    return KeyReply(
        id=key.id,
        name=key.name,
        right=key.right.value,
        knowledge_bases=None if key.knowledge_bases is None else list(key.knowledge_bases),
        created_at=time_of(key.created_at) or "",
        expires_at=time_of(key.expires_at),
        requests_per_minute=key.requests_per_minute,
    )
