"""What all routes of one application share."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import Response

from docmill.domain.errors import KnowledgeBaseUnknown
from docmill.ports.keys import KeyStore
from docmill_services.query.backend import Backend
from docmill_services.query.guard import CALLER, Guard
from docmill_services.query.metrics import Metrics
from docmill_services.query.responses import Reply
from docmill_services.query.work import Work

ANSWER_THREADS: Final = 16
#: Answers that are written or wait; more are refused.
MAX_ANSWERS: Final = 64


@dataclass(frozen=True, slots=True)
class Context:
    """Knowledge bases, who may ask, threads, metrics, and the event that ends streams when the server stops.

    Answers have threads of their own: a model takes its time, and nobody's search is to wait for that.
    """

    all_knowledge_bases: Mapping[str, Backend]
    guard: Guard = field(default_factory=Guard)
    keys: KeyStore | None = None
    work: Work = field(default_factory=Work)
    answers: Work = field(default_factory=lambda: Work(ANSWER_THREADS, MAX_ANSWERS))
    metrics: Metrics = field(default_factory=Metrics)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def knowledge_bases(self) -> Mapping[str, Backend]:
        """Those that the key of the request may see; asked in the task of the request, not in a thread."""
        key = CALLER.get()
        if key is None or key.knowledge_bases is None:
            return self.all_knowledge_bases
        return {name: backend for name, backend in self.all_knowledge_bases.items() if key.sees(name)}

    def backend(self, knowledge_base: str) -> Backend:
        """One of the knowledge bases; raises ``KnowledgeBaseUnknown``, naming those that exist."""
        found = self.knowledge_bases.get(knowledge_base)
        if found is None:
            known = ", ".join(sorted(self.knowledge_bases)) or "none"
            raise KnowledgeBaseUnknown(f"no knowledge base is called {knowledge_base[:100]!r}; there are: {known}")
        return found


def json_response(reply: Reply, status: int = 200) -> Response:
    """A reply as it is sent."""
    return Response(reply.json_bytes(), status, media_type="application/json")
