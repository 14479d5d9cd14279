"""What is loaded before a request has leave, so that it arrives soon after."""

import subprocess
import sys
from typing import Final

import pytest

#: Prints the modules that the first request loads, other than those of its preparation.
_PROGRAM: Final = """
import http.server, json, sys, threading
from docmill.adapters.providers.catalog import embedding_model_for
from docmill.adapters.providers.remote import RemoteEmbeddingModel
from docmill.domain.knowledge_bases import EmbeddingModelSpec

ANSWERS = {
    "openai": {"data": [{"index": 0, "embedding": [1.0, 0.0]}]},
    "voyage": {"data": [{"index": 0, "embedding": [1.0, 0.0]}]},
}
PACKAGES = ("anyio", "docmill", "httpcore", "httpx", "openai")
arrived = []

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        arrived.append(set(sys.modules))
        body = json.dumps(ANSWERS[sys.argv[1]]).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
spec = EmbeddingModelSpec(sys.argv[1], "m", dimensions=2, base_url=f"http://127.0.0.1:{server.server_port}/v1", token_key="KEY")
model = embedding_model_for(spec, threads=1, credentials={"KEY": "k"})
model._endpoint.prepare()
prepared = set(sys.modules)
model.embed_passages(["a"])
print(json.dumps(sorted(name for name in arrived[0] - prepared if name.partition(".")[0] in PACKAGES)))
model.close()
"""


@pytest.mark.parametrize("provider", ["openai", "voyage"])
def test_a_request_loads_nothing_once_it_has_leave(provider: str) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, provider], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stderr
