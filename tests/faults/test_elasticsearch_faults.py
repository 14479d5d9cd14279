"""The lexical store when Elasticsearch, its disk or the network misbehaves, and when it is the wrong server."""

import json
import socket
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from docmill.adapters.elasticsearch import ElasticsearchLexicalStore, connect_elasticsearch
from docmill.config.settings import Settings
from docmill.domain.chunks import ChunkFilter
from docmill.domain.errors import ConfigurationError, ExitCode, StoreDown, StoreRejected
from docmill.testing.chunk_store_contract import chunk
from support.elasticsearch_proxy import Answer, Drop, ElasticsearchProxy, Hang, RefuseItems, running_proxy
from support.elasticsearch_server import elasticsearch_url
from support.redis_server import Certificates, make_certificates

INFO = {"version": {"number": "9.0.0"}}


@pytest.fixture(scope="module")
def url() -> str:
    return elasticsearch_url()


@pytest.fixture
def proxy(url: str) -> Iterator[ElasticsearchProxy]:
    with running_proxy(url) as proxy:
        yield proxy


@pytest.fixture
def store(proxy: ElasticsearchProxy) -> Iterator[ElasticsearchLexicalStore]:
    store = connect_elasticsearch(Settings(elasticsearch_url=proxy.url, store_timeout_seconds=10.0))
    yield store
    store.close()


@pytest.fixture
def index(store: ElasticsearchLexicalStore) -> Iterator[str]:
    name = f"faults-{uuid4().hex}"
    store.create(name, "words", k1=1.5, b=0.75)
    yield name
    store.drop(name)


def block(url: str, index: str, value: bool | None) -> None:
    """Does what the server does with every index when its disk is nearly full, or takes it back."""
    body = json.dumps({"index.blocks.read_only_allow_delete": value}).encode()
    request = urllib.request.Request(f"{url}/docmill-index-{index}/_settings", body, {"Content-Type": "application/json"}, method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


def texts(store: ElasticsearchLexicalStore, index: str) -> list[str]:
    return sorted(record.text for record in store.chunks_of(index, "a.md", 1))


def records(number: int) -> list[Any]:
    return [chunk(index=place, text=f"text {place}", count=number) for place in range(number)]


@pytest.mark.parametrize("status", [429, 503])
def test_items_that_the_server_had_no_room_for_are_sent_again(
    proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str, status: int
) -> None:
    proxy.plan("_bulk", RefuseItems(status, frozenset({0, 3})), RefuseItems(status, frozenset({1})))
    proxy.take_requests()
    store.write(index, records(5))
    assert [path.partition("?")[0].rpartition("/")[2] for _, path in proxy.take_requests()] == ["_bulk"] * 3
    store.refresh(index)
    assert texts(store, index) == [f"text {place}" for place in range(5)]


def test_a_refused_item_is_named_and_not_sent_again(proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str) -> None:
    proxy.plan("_bulk", RefuseItems(400, frozenset({1}), "document_parsing_exception"))
    proxy.take_requests()
    with pytest.raises(StoreRejected, match=r"refused a\.md#1 .*document_parsing_exception"):
        store.write(index, records(3))
    assert len(proxy.take_requests()) == 1


def test_a_server_that_stays_busy_is_down(proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str) -> None:
    proxy.plan("_bulk", *[RefuseItems(429, frozenset({0}))] * 20)
    with pytest.raises(StoreDown, match="busy"):
        store.write(index, records(1))


@pytest.mark.parametrize(
    "fault",
    [Answer(429, {}), Answer(502, "bad gateway"), Answer(503, {}), Answer(504, {}), Drop(), Drop(after_applying=True)],
    ids=["429", "502", "503", "504", "dropped", "dropped-after-applying"],
)
def test_a_request_that_did_not_get_through_is_repeated(
    proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str, fault: Any
) -> None:
    proxy.plan("_bulk", fault, fault)
    store.write(index, records(3))
    proxy.plan("_refresh", fault)
    store.refresh(index)
    proxy.plan("_search", fault)
    assert texts(store, index) == ["text 0", "text 1", "text 2"]
    assert proxy.unmet == 0


def test_a_write_that_was_applied_but_not_answered_is_repeated_without_harm(proxy: ElasticsearchProxy, index: str) -> None:
    hasty = connect_elasticsearch(Settings(elasticsearch_url=proxy.url, store_timeout_seconds=2.0))
    proxy.plan("_bulk", Hang())
    hasty.write(index, records(3))
    hasty.refresh(index)
    assert hasty.count(index) == 3
    assert proxy.unmet == 0
    hasty.close()


def test_a_server_that_answers_400_is_asked_once(proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str) -> None:
    proxy.plan("_search", Answer(400, {"error": {"type": "parsing_exception", "reason": "no"}, "status": 400}))
    proxy.take_requests()
    with pytest.raises(StoreRejected, match="parsing_exception"):
        store.count(index)
    assert len(proxy.take_requests()) == 1


def test_half_an_answer_is_no_answer(proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str) -> None:
    store.search(index, "word", 5, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    assert all("allow_partial_search_results=false" in path for _, path in proxy.take_requests() if "_search" in path)


def test_refreshing_is_one_request_and_no_write_waits_for_it(
    proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str
) -> None:
    proxy.take_requests()
    store.write(index, records(3))
    store.refresh(index)
    paths = [path for _, path in proxy.take_requests()]
    assert [path.partition("?")[0].rpartition("/")[2] for path in paths] == ["_bulk", "_refresh"]
    assert "refresh=" not in paths[0]


def test_an_index_made_read_only_by_a_full_disk_is_an_outage_and_loses_nothing(
    url: str, store: ElasticsearchLexicalStore, index: str
) -> None:
    store.write(index, records(2))
    block(url, index, True)
    with pytest.raises(StoreDown, match="nearly full disk"):
        store.write(index, records(3))
    store.refresh(index)
    assert store.count(index) == 2
    block(url, index, None)
    store.write(index, records(3))
    store.refresh(index)
    assert store.count(index) == 3


def test_a_node_that_is_down_does_not_matter_while_another_one_answers(url: str) -> None:
    store = connect_elasticsearch(Settings(elasticsearch_url=f"http://127.0.0.1:{_closed_port()},{url}"))
    assert all(store.identity() for _ in range(5))
    store.close()


def _closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            Answer(401, {"error": {"type": "security_exception", "reason": "unable to authenticate"}}),
            "refuses the login; check USER:PASSWORD@",
        ),
        (Answer(403, {"error": {"type": "security_exception", "reason": "action is unauthorized"}}), "does not let this user"),
        (Answer(200, {"version": {"number": "7.17.9"}}), "is 7.17.9, and docmill needs 8 or newer"),
        (Answer(200, INFO, None), "is not Elasticsearch"),
        (Answer(200, b"<html>hello</html>", None), "not answer as Elasticsearch|is not Elasticsearch"),
        (Answer(404, {"detail": "Not Found"}, None), "refused the request|is not Elasticsearch"),
        (Answer(200, {"hello": "world"}), "does not say which version"),
    ],
    ids=["wrong-password", "no-right", "too-old", "another-server", "a-web-page", "not-found", "no-version"],
)
def test_a_server_that_cannot_be_used_is_refused_in_one_line(answer: Answer, says: str) -> None:
    with running_proxy(None) as proxy:
        proxy.plan("/", *[answer] * 5)
        with pytest.raises(StoreDown, match=says) as raised:
            connect_elasticsearch(Settings(elasticsearch_url=proxy.url.replace("//", "//user:hidden@")))
    message = str(raised.value)
    assert proxy.url.removeprefix("http://") in message
    assert "hidden" not in message
    assert "\n" not in message
    assert raised.value.exit_code is ExitCode.SERVICE_DOWN


def test_the_login_goes_to_the_server() -> None:
    with running_proxy(None) as proxy:
        proxy.plan("/", Answer(200, INFO), Answer(200, INFO))
        for settings in (
            Settings(elasticsearch_url=proxy.url.replace("//", "//us%40er:pass@")),
            Settings(elasticsearch_url=proxy.url, elasticsearch_api_key="a2V5"),
        ):
            connect_elasticsearch(settings).close()
        assert proxy.authorizations == ["Basic dXNAZXI6cGFzcw==", "ApiKey a2V5"]


def test_media_types_are_those_that_every_version_takes(proxy: ElasticsearchProxy, store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, records(1))
    assert proxy.media_types <= {"application/json", "application/x-ndjson"}


def test_a_server_that_is_not_there_is_refused_in_one_line() -> None:
    port = _closed_port()
    with pytest.raises(StoreDown, match=rf"127\.0\.0\.1:{port} does not answer: connection refused; check DOCMILL_ELASTICSEARCH_URL"):
        connect_elasticsearch(Settings(elasticsearch_url=f"http://u:hidden@127.0.0.1:{port}"))


def test_a_server_that_never_answers_is_refused_within_the_time_out() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(StoreDown, match=r"did not answer within 0\.3 s"):
            connect_elasticsearch(Settings(elasticsearch_url=f"http://127.0.0.1:{silent.getsockname()[1]}", store_timeout_seconds=0.3))


def test_https_where_the_server_speaks_http_is_said() -> None:
    with running_proxy(None) as proxy, pytest.raises(StoreDown, match=r"does not speak TLS; should .* begin with http://"):
        connect_elasticsearch(Settings(elasticsearch_url=proxy.url.replace("http:", "https:")))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def tls(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.certificate, certificates.key)
    return context


def test_a_certificate_is_trusted_by_the_file_that_signed_it_alone(tls: ssl.SSLContext, certificates: Certificates, tmp_path: Path) -> None:
    others = make_certificates(tmp_path)
    with running_proxy(None, tls) as proxy:
        proxy.plan("/", Answer(200, INFO))
        connect_elasticsearch(Settings(elasticsearch_url=proxy.url, elasticsearch_ca_file=str(certificates.authority))).close()
        for wrong in (None, str(others.authority)):
            with pytest.raises(StoreDown, match=r"certificate was refused .*; DOCMILL_ELASTICSEARCH_CA_FILE must name"):
                connect_elasticsearch(Settings(elasticsearch_url=proxy.url, elasticsearch_ca_file=wrong))


def test_http_where_the_server_speaks_https_is_said(tls: ssl.SSLContext) -> None:
    with running_proxy(None, tls) as proxy, pytest.raises(StoreDown, match=r"does it want https://"):
        connect_elasticsearch(Settings(elasticsearch_url=proxy.url.replace("https:", "http:")))


def test_a_file_without_certificates_is_said(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    with pytest.raises(ConfigurationError, match=r"DOCMILL_ELASTICSEARCH_CA_FILE: .*holds no certificate"):
        connect_elasticsearch(Settings(elasticsearch_url="https://127.0.0.1:1", elasticsearch_ca_file=str(file)))
