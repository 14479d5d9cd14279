"""What commands read of the query service."""

import json

import httpx

from docmill_services.cli.api import Api


def test_events_may_hold_what_only_unicode_takes_for_the_end_of_a_line() -> None:
    text = "one\u2028two\u2029three\x85four"

    def answer(_: httpx.Request) -> httpx.Response:
        data = json.dumps({"text": text}, ensure_ascii=False)
        return httpx.Response(200, text=f"event: delta\ndata: {data}\n\nevent: done\ndata: {{}}\n\n")

    with httpx.Client(transport=httpx.MockTransport(answer), base_url="http://127.0.0.1") as client:
        assert list(Api(client).events("/v1/knowledge-bases/kb/answer", {})) == [("delta", {"text": text}), ("done", {})]
