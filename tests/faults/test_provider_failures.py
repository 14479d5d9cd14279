"""A provider that fails or refuses: which documents it costs, what the run says, and what goes on being served."""

import json
from pathlib import Path
from typing import Final

import pytest

from support.fake_provider import FakeProvider, times_paid
from support.fake_provider_faults import Ending, Fault, Spoiling, no_such_model, poison, unavailable, wrong_key
from support.fake_provider_log import fingerprint
from support.fleet_api import whole_version, word_of
from support.provider_world import KEY_VARIABLE, Base, ProviderDocmill, made_key, numbered, write_documents

ONE_BY_ONE: Final = {"embedding_batch_size": 1}
#: So many failures without a success close a gate; those that are on their way come on top.
FAILURES_WITHOUT_SUCCESS: Final = 20
#: What is sent to tell a text that is refused from a provider that refuses everything.
PLAIN_TEXT: Final = "text"


@pytest.mark.parametrize("fault", [unavailable(share=0.05), Fault(ending=Ending.RESET, share=0.05)], ids=["503", "reset"])
def test_what_fails_now_and_then_costs_its_files_until_the_next_run(tmp_path: Path, provider: FakeProvider, fault: Fault) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(100))
    provider.fault(fault)
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, embedding=ONE_BY_ONE)}, "--no-watch") as docmill:
        first = docmill.wait_for_run()
        failed = docmill.documents("failed")
        bad = [seen for seen in provider.log() if seen.status != 200]
        assert first["state"] == "complete_with_errors"
        assert len(failed) == len(bad) > 0
        assert all(failed.values())
        assert docmill.gate()["state"] == "open"
        assert all(docmill.finds(name) == (name not in failed) for name in names)
        provider.heal()
        docmill.post("/runs")
        second = docmill.wait_for_run(after=first["id"])
        assert second["state"] == "complete"
        assert docmill.documents("failed") == {}
        assert all(docmill.finds(name) for name in failed)
        paid = times_paid(provider.log())
        assert (len(paid), set(paid.values())) == (100, {1})


def test_a_provider_that_only_fails_fails_the_run_and_is_left_alone(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(100))
    provider.fault(unavailable())
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, embedding=ONE_BY_ONE)}, "--no-watch") as docmill:
        run = docmill.wait_for_run()
        assert run["state"] == "failed"
        assert "overloaded or not ready" in run["error"]
        assert docmill.gate()["state"] == "closed"
        log = provider.log()
        assert len(log) < FAILURES_WITHOUT_SUCCESS + 10
        provider.heal()
        docmill.post("/runs")
        assert docmill.wait_for_run(after=run["id"])["state"] == "complete"
        assert docmill.status()["documents"]["live"] == len(names)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (wrong_key(), "Incorrect API key provided"),
        (no_such_model(), "does not exist or you do not have access"),
        (Fault(spoiling=Spoiling.SHORT), "15 dimensions where 16"),
        (Fault(spoiling=Spoiling.MISSING), "vectors"),
        (Fault(status=200, body="<html><title>Welcome to the portal</title></html>"), "cannot be used"),
    ],
    ids=["401", "404", "dimension", "count", "page"],
)
def test_a_provider_that_refuses_for_good_ends_the_run_at_once(tmp_path: Path, provider: FakeProvider, fault: Fault, words: str) -> None:
    docs = tmp_path / "docs"
    old = write_documents(docs, numbered(3))
    bases = {"kb": Base(docs, embedding={"embedding_batch_size": 1, "max_embedding_concurrency": 2})}
    with ProviderDocmill(tmp_path, provider, bases, "--no-watch") as docmill:
        first = docmill.wait_for_run()
        assert first["state"] == "complete"
        docmill.stop()
    write_documents(docs, numbered(40), version=2)
    provider.behave()
    provider.latency(0.1)
    provider.fault(fault)
    with ProviderDocmill(tmp_path, provider, bases, "--no-watch") as docmill:
        run = docmill.wait_for_run(after=first["id"])
        assert run["state"] == "failed"
        assert words in run["error"]
        assert len(provider.log()) <= 2
        assert docmill.gate()["state"] == "open"
        for name in old:
            assert whole_version(name, docmill.search(word_of(name), strategies=["bm25"])["results"]) == 1
        key = made_key(KEY_VARIABLE)
        assert key not in run["error"] + docmill.said + str(docmill.status()) + str(docmill.documents("failed"))
    assert not any(key.encode() in path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())


def test_queries_by_words_go_on_while_a_provider_refuses(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(3))
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs)}, "--no-watch") as docmill:
        docmill.wait_for_run()
        provider.fault(wrong_key())
        answer = docmill.search(word_of(names[0]))
        assert [result["document_id"] for result in answer["results"]] == [f"docs/{names[0]}"]
        assert [degraded["strategy"] for degraded in answer["degraded"]] == ["chunked-embeddings"]
        assert made_key(KEY_VARIABLE) not in str(answer)


def test_a_text_that_is_refused_costs_its_document_only(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(30), parts=2)
    provider.fault(poison(word_of("7.md")))
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, embedding={"embedding_batch_size": 20})}, "--no-watch") as docmill:
        run = docmill.wait_for_run()
        failed = docmill.documents("failed")
        assert run["state"] == "complete_with_errors"
        assert list(failed) == ["7.md"]
        assert failed["7.md"]
        assert all(docmill.finds(name) for name in names if name != "7.md")
        assert docmill.gate()["state"] == "open"
        paid = times_paid(provider.log())
        paid.pop(fingerprint(PLAIN_TEXT), None)
        assert set(paid.values()) == {1}


def test_answers_that_are_turned_around_are_put_in_order(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(12))
    provider.fault(Fault(spoiling=Spoiling.TURNED, path="/embeddings"))
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, more={"prepend_headings": False})}, "--no-watch") as docmill:
        assert docmill.wait_for_run()["state"] == "complete"
        for name in names:
            results = docmill.search((docs / name).read_text(), strategies=["chunked-embeddings"])["results"]
            assert results[0]["document_id"] == f"docs/{name}"


def test_an_answer_that_never_ends_fails_its_file_and_no_other(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(10))
    provider.fault(
        Fault(ending=Ending.HANG, text=word_of("3.md")),
        Fault(ending=Ending.DRIP, drip_seconds=1.0, text=word_of("5.md")),
        Fault(spoiling=Spoiling.CUT_JSON, text=word_of("7.md")),
    )
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, embedding=ONE_BY_ONE)}, "--no-watch") as docmill:
        docmill.wait_until(lambda: docmill.status()["documents"]["live"] == 7, "the others", 60)
        run = docmill.wait_for_run(seconds=180)
        assert run["state"] == "complete_with_errors"
        assert sorted(docmill.documents("failed")) == ["3.md", "5.md", "7.md"]
        assert all(docmill.finds(name) for name in names if name not in ("3.md", "5.md", "7.md"))
        assert docmill.gate()["state"] == "open"


def test_a_provider_that_only_fails_does_not_have_another_one_left_alone(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    write_documents(docs, numbered(5))
    other = made_key("OTHER_KEY")
    provider.fault(unavailable(key=other))
    docmill = ProviderDocmill(tmp_path, provider, {"kb": Base(docs)}, "--no-watch", settings={"OTHER_KEY": other})
    written = json.loads((tmp_path / "docmill.yaml").read_text())
    [vectors, words] = written["rag"]["kb"]["strategies"]
    written["models"]["second"] = {**written["models"]["embedder_of_kb"], "model": "text-embedding-3-large", "token_key": "OTHER_KEY"}
    written["rag"]["kb"]["strategies"] = [vectors, {**vectors, "name": "second", "embedding_model": "second"}, words]
    (tmp_path / "docmill.yaml").write_text(json.dumps(written))
    with docmill:
        assert docmill.wait_for_run()["state"] == "failed"
        assert sorted(gate["state"] for gate in docmill.status()["gate"]) == ["closed", "open"]
        provider.heal()
        first = docmill.run()["id"]
        docmill.post("/runs")
        assert docmill.wait_for_run(after=first)["state"] == "complete"
        assert set(times_paid([seen for seen in provider.log() if seen.key == fingerprint(other)]).values()) == {1}
        assert set(times_paid([seen for seen in provider.log() if seen.key != fingerprint(other)]).values()) == {1}
