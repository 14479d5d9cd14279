"""What answers of Elasticsearch mean, and which are worth another try."""

from typing import Any

import elasticsearch
import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig

from docmill.adapters.elasticsearch.answers import Failure, ItemsWaiting, Verdict, as_docmill_error, is_worth_repeating, refusal
from docmill.adapters.elasticsearch.making import is_of_an_open_index
from docmill.domain.errors import DocmillError, StoreDown, StoreRejected

BUSY = ("es_rejected_execution_exception", "rejected execution of primary operation")
FLOOD = ("cluster_block_exception", "index [i] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark];")
READ_ONLY = ("cluster_block_exception", "index [i] blocked by: [FORBIDDEN/8/index write (api)];")
CLOSED = ("cluster_block_exception", "index [i] blocked by: [FORBIDDEN/4/index closed];")
CLOSING = (
    "cluster_block_exception",
    "index [i] blocked by: [FORBIDDEN/4/index preparing to close. Reopen the index to allow writes again];",
)
NO_MASTER = ("cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];")
IS_CLOSED = ("index_closed_exception", "closed")
NO_ANALYZER = ("query_shard_exception", "failed to create query: this Analyzer is closed")
NO_READER = ("already_closed_exception", "this IndexReader is closed")
NO_QUERY = ("query_shard_exception", "failed to create query: maxClauseCount is set to 1024")
NO_SHARD = ("no_shard_available_action_exception", "no shard")
NO_INDEX = ("index_not_found_exception", "no such index [i]")
IMMENSE = ("illegal_argument_exception", "Document contains at least one immense term")
STRICT = ("strict_dynamic_mapping_exception", "mapping set to strict")
DENIED = ("security_exception", "action is unauthorized for user")

VERDICTS = [
    (429, BUSY, Verdict.AGAIN),
    (502, ("", "bad gateway"), Verdict.AGAIN),
    (503, NO_SHARD, Verdict.AGAIN),
    (503, NO_MASTER, Verdict.AGAIN),
    (504, ("", "gateway time-out"), Verdict.AGAIN),
    (400, IS_CLOSED, Verdict.AGAIN),
    (400, NO_ANALYZER, Verdict.AGAIN),
    (500, NO_READER, Verdict.AGAIN),
    (400, NO_QUERY, Verdict.REFUSED),
    (403, CLOSED, Verdict.AGAIN),
    (403, CLOSING, Verdict.AGAIN),
    (429, FLOOD, Verdict.DOWN),
    (403, FLOOD, Verdict.DOWN),
    (403, READ_ONLY, Verdict.DOWN),
    (401, DENIED, Verdict.DOWN),
    (403, DENIED, Verdict.DOWN),
    (500, ("null_pointer_exception", ""), Verdict.DOWN),
    (507, ("", "no room"), Verdict.DOWN),
    (404, NO_INDEX, Verdict.MISSING),
    (400, IMMENSE, Verdict.REFUSED),
    (400, STRICT, Verdict.REFUSED),
    (413, ("", "content too long"), Verdict.REFUSED),
    (409, ("version_conflict_engine_exception", ""), Verdict.REFUSED),
]


def answer(
    status: int, kind: str, reason: str, error: type[elasticsearch.ApiError] = elasticsearch.ApiError, product: str = "Elasticsearch"
) -> elasticsearch.ApiError:
    meta = ApiResponseMeta(
        status, "1.1", HttpHeaders({"X-Elastic-Product": product} if product else {}), 0.0, NodeConfig("http", "localhost", 9200)
    )
    cause = {"type": kind, "reason": reason}
    return error("failed", meta, {"error": {"root_cause": [cause], **cause}, "status": status} if kind else "<html>")


@pytest.mark.parametrize("word", ["settings", "setting(s)"])
def test_a_setting_that_an_open_index_refuses_is_told_from_a_wrong_one(word: str) -> None:
    reason = f"Can't update non dynamic {word} [[index.similarity.words.b]] for open indices [[docmill-index-a/x]]."
    assert is_of_an_open_index(Failure(400, "illegal_argument_exception", reason))
    assert not is_of_an_open_index(Failure(400, "illegal_argument_exception", "Unknown Similarity type [BM26] for [words]"))


@pytest.mark.parametrize(("status", "said", "verdict"), VERDICTS)
def test_a_failed_item_and_a_failed_request_mean_the_same(status: int, said: tuple[str, str], verdict: Verdict) -> None:
    assert Failure.of_item(status, {"type": said[0], "reason": said[1]}).verdict is verdict
    assert Failure.of_answer(answer(status, *said)).verdict is verdict


@pytest.mark.parametrize(("status", "said", "verdict"), VERDICTS)
def test_only_what_may_pass_is_tried_again(status: int, said: tuple[str, str], verdict: Verdict) -> None:
    assert is_worth_repeating(answer(status, *said)) is (verdict is Verdict.AGAIN)


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (elasticsearch.ConnectionError("refused"), True),
        (elasticsearch.ConnectionTimeout("late"), True),
        (elasticsearch.SSLError("CERTIFICATE_VERIFY_FAILED"), False),
        (elasticsearch.SerializationError("not JSON"), False),
        (answer(200, "", "", elasticsearch.UnsupportedProductError), False),
        (ItemsWaiting(Failure(429, *BUSY)), True),
        (ValueError("a defect"), False),
        (StoreRejected("ours"), False),
    ],
)
def test_connections_and_times_out_are_tried_again_and_nothing_else(error: Exception, again: bool) -> None:
    assert is_worth_repeating(error) is again


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (elasticsearch.ConnectionError("Connection refused"), StoreDown, "host:1 does not answer: connection refused"),
        (elasticsearch.ConnectionError("Failed to resolve 'x'"), StoreDown, "its name is not known"),
        (elasticsearch.ConnectionError("Remote end closed connection"), StoreDown, "https://"),
        (elasticsearch.ConnectionTimeout("late"), StoreDown, "did not answer within 20 s"),
        (elasticsearch.SSLError("[SSL: WRONG_VERSION_NUMBER]"), StoreDown, "http://"),
        (
            elasticsearch.SSLError("certificate verify failed: self-signed certificate (_ssl.c:1) [CERTIFICATE_VERIFY_FAILED]"),
            StoreDown,
            r"\(self-signed certificate\); DOCMILL_ELASTICSEARCH_CA_FILE",
        ),
        (elasticsearch.SerializationError("not JSON"), StoreDown, "does not answer as Elasticsearch"),
        (answer(200, "", "", elasticsearch.UnsupportedProductError), StoreDown, "is not Elasticsearch"),
        (answer(404, "", "", product=""), StoreDown, "is not Elasticsearch: it answers 404"),
        (answer(401, *DENIED), StoreDown, "refuses the login"),
        (answer(403, *DENIED), StoreDown, "does not let this user"),
        (answer(429, *FLOOD), StoreDown, "read-only until there is room"),
        (answer(404, *NO_INDEX), StoreRejected, "index 'i' does not exist"),
        (answer(400, *STRICT), StoreRejected, r"refused the request \(index 'i'\)"),
        (answer(503, *NO_SHARD), StoreDown, r"cannot answer now \(index 'i'\)"),
        (ItemsWaiting(Failure(429, *BUSY)), StoreDown, "is busy"),
    ],
)
def test_an_error_says_in_one_line_what_to_look_at(error: Any, kind: type[DocmillError], says: str) -> None:
    with pytest.raises(kind, match=says) as raised:
        raise as_docmill_error(error, "host:1", "i", 20.0)
    assert type(raised.value) is kind
    assert "\n" not in str(raised.value)


def test_refused_chunks_are_named_up_to_five() -> None:
    error = refusal(Failure(400, *STRICT), "host:1", "i", [f"{number}.md#0" for number in range(8)])
    assert type(error) is StoreRejected
    assert "0.md#0, 1.md#0, 2.md#0, 3.md#0, 4.md#0 and 3 more" in str(error)


@pytest.mark.parametrize("said", [FLOOD, READ_ONLY, DENIED])
def test_items_that_fail_for_the_servers_sake_are_an_outage(said: tuple[str, str]) -> None:
    assert type(refusal(Failure(403, *said), "host:1", "i", ["a.md#0"])) is StoreDown
