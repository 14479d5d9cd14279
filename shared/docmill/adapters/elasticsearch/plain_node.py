"""Requests as every version of the server takes them.

The client asks each server for the REST API of the client's major version (``application/vnd.elasticsearch+json; compatible-with=9``),
which a server of an older one refuses. Plain media types mean the server's own API; what docmill calls is the same in versions 8 and 9.
"""

import re
from typing import TYPE_CHECKING, Final

import structlog
from elastic_transport import HttpHeaders, NodeConfig, Urllib3HttpNode
from elastic_transport.client_utils import DEFAULT, DefaultType
from urllib3 import HTTPSConnectionPool

if TYPE_CHECKING:
    from elastic_transport._node import NodeApiResponse

_log = structlog.get_logger(__name__)
_VERSIONED: Final = re.compile(r"application/vnd\.elasticsearch\+(json|x-ndjson); *compatible-with=\d+")
_MEDIA_TYPE_HEADERS: Final = ("accept", "content-type")


class PlainNode(Urllib3HttpNode):
    """A connection to one server, without versioned media types; the server's warnings go to the log instead of to ``warnings``."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        if config.ssl_context is not None and isinstance(self.pool, HTTPSConnectionPool):
            # The context says whom to trust; the client would add the authorities that it ships.
            self.pool.ca_certs = None

    def perform_request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: DefaultType | float | None = DEFAULT,
    ) -> "NodeApiResponse":
        """See the client."""
        plain = HttpHeaders(headers or {})
        for name in _MEDIA_TYPE_HEADERS:
            if name in plain:
                plain[name] = _VERSIONED.sub(r"application/\1", plain[name])
        answer = super().perform_request(method, target, body, plain, request_timeout)
        warning = answer.meta.headers.pop("warning", None)
        if warning is not None:
            _log.debug("elasticsearch_warns", warning=warning)
        return answer
