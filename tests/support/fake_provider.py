"""A provider of models as a process of its own: it can be told to misbehave, has a rate limit, and notes every request.

``python -m support.fake_provider --port 0`` prints its address. It speaks OpenAI's embeddings (at ``/v1``) and chat completions, Gemini's
embeddings and ``generateContent``, the embeddings of Cohere, Voyage, Mistral and Ollama, Anthropic's messages, and ``/rerank``. Vectors and
what a chat model says are a hash of the text.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from support.fake_provider_faults import Fault
from support.fake_provider_limits import RateLimit
from support.fake_provider_log import ANSWERED, Seen
from support.fake_provider_server import Provider, serve
from support.faulty_server import Json, ServerSeen, server_process
from support.waiting import wait_until

DIMENSIONS: Final = 64


class FakeProvider(ServerSeen):
    """A running provider, seen from the test."""

    def __init__(self, port: int) -> None:
        """At this port of this machine."""
        super().__init__(port)
        self.base_url = f"{self.address}/v1"

    def fault(self, *faults: Fault) -> None:
        """Sets these faults, after those that are set."""
        for fault in faults:
            self._tell("fault", fault.as_json())

    def heal(self) -> None:
        """Forgets all faults."""
        self._tell("heal", {})

    def limit(self, limit: RateLimit) -> None:
        """Bounds what each key may ask from now on; nothing has been asked yet."""
        self._tell("limit", limit.as_json())

    def latency(self, seconds: float) -> None:
        """Answers come so much later from now on, whatever is asked."""
        self._tell("latency", seconds)

    def log(self) -> list[Seen]:
        """Every request since the last ``take`` or ``behave``, in the order in which they came."""
        return [Seen.from_json(one) for one in self.call("/control/log", b"")]

    def take(self) -> list[Seen]:
        """The same, and forgets them."""
        return [Seen.from_json(one) for one in self.call("/control/take", b"")]

    def wait_for(self, what: Callable[[list[Seen]], object], words: str, seconds: float = 60.0) -> list[Seen]:
        """The log, once it shows ``what``."""
        wait_until(lambda: what(self.log()), words, seconds, pause_seconds=0.05)
        return self.log()

    def wait_for_requests(self, count: int, seconds: float = 60.0) -> list[Seen]:
        """The log, once so many requests have come."""
        return self.wait_for(lambda log: len(log) >= count, f"{count} requests", seconds)

    def _tell(self, what: str, told: Json) -> None:
        self.call(f"/control/{what}", json.dumps(told).encode())


def times_paid(log: list[Seen], kind: str = "/embeddings") -> Counter[str]:
    """How often each text was embedded, by its fingerprint: what a provider sends a bill for."""
    return Counter(text for seen in log if kind in seen.path and seen.status == 200 and seen.state == ANSWERED for text in seen.texts)


@contextmanager
def fake_provider(*, dimensions: int = DIMENSIONS, port: int = 0) -> Iterator[FakeProvider]:
    """A provider whose models make vectors of ``dimensions`` where neither the request nor the model's name says otherwise."""
    with server_process("support.fake_provider", FakeProvider, f"--dimensions={dimensions}", f"--port={port}") as provider:
        yield provider


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    given = parser.parse_args()

    def tell(address: str) -> None:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()

    asyncio.run(serve(Provider(given.dimensions), "127.0.0.1", given.port, tell))


if __name__ == "__main__":
    main()
