"""Bad input on the command line: one line on standard error that says what is wrong, the documented exit code, no traceback."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from support.one_line import one_line, run_each
from support.running_docmill import PROGRAM, RunningDocmill, environment, write_configuration

#: Calls that are refused, with what is said about them.
REFUSED: Final[Sequence[tuple[tuple[str, ...], str]]] = [
    (("serach", "x"), "No such command 'serach'. Did you mean 'search'?"),
    (("config", "chek"), "No such command 'chek'"),
    (("--frobnicate",), "No such option: --frobnicate"),
    (("search", "--frob", "x"), "No such option: --frob"),
    (("search", "-x"), "No such option: -x"),
    (("search",), "Missing argument 'query'"),
    (("search", "--"), "Missing argument 'query'"),
    (("search", "one", "two"), "unexpected extra argument"),
    (("search", "x", "--limit"), "'--limit' requires an argument"),
    (("search", "x", "--limit", "many"), "--limit"),
    (("explain",), "Missing argument"),
    (("up", "docs", "docmill.yaml"), "unexpected extra argument"),
    (("up", "docs", "--port", "99999"), "--port"),
    (("up", "docs", "--port", "-1"), "--port"),
    (("up", "docs", "--port", "http"), "--port"),
    (("up", "docs", "--log-level", "loud"), "'loud' is not one of 'debug', 'info', 'warning', 'error'"),
    (("up", "docs", "--config", "docmill.yaml"), "not both"),
    (("up", "docmill.yaml", "--name", "other"), "names its own"),
    (("up", "docs", "--name", ""), "cannot name a knowledge base"),
    (("up", "docs", "--name", "a/b"), "cannot name a knowledge base"),
    (("up", "nowhere"), "nowhere does not exist"),
    (("index", "nowhere"), "nowhere does not exist"),
    (("up", "--config", "nowhere.yaml"), "nowhere.yaml does not exist"),
    (("up", "/dev/null"), "neither a folder nor a regular file"),
    (("up", "docs/pie.md"), "pie.md:3:1: the file must be a mapping with a `rag:` section"),
    (("up", "docs", "--data-dir", "other", "--host", "0.0.0.0"), "loopback addresses only"),
    (("up", "docs", "--data-dir", "other", "--host", "no such host"), "loopback addresses only"),
    (("up", "docs", "--data-dir", "other", "--host", ""), "loopback addresses only"),
    (("config", "check", "nowhere.yaml"), "there is no such file"),
    (("config", "check", "docs"), "this is a folder"),
    (("search", "x", "--kb", "other"), "no knowledge base is called 'other'; there are: kb"),
    (("search", "x", "--strategy", "bm52"), "no strategy is called 'bm52'; there are: bm25, chunked-embeddings"),
    (("search", "x", "--limit", "0"), "it must be from 1 to 1000"),
    (("search", "x", "--limit", "-5"), "it must be from 1 to 1000"),
    (("search", "x", "--limit", "99999999999999999999"), "it must be from 1 to 1000"),
    (("search", ""), "the query is empty"),
    (("search", " \t\n "), "the query is empty"),
    (("search", "\u200b"), "the query is empty"),
    (("search", "x" * 100_000), "at most 32768"),
]
#: Any text may be looked for.
QUERIES: Final = [
    "a/b",
    "foo[0]",
    '"unclosed',
    "AND OR",
    "\\",
    "field:value",
    "*/*",
    "🥧",
    "x",
    "how to a",
    "[red]apple[/red]",
    "\u202eelppa",
    "word " * 5000,
    os.fsdecode(b"caf\xe9 \xff"),
]
NO_TEXT: Final = os.fsdecode(b"\xff")
#: Calls that find something or nothing.
ANSWERED: Final[Sequence[tuple[str, ...]]] = [
    *(("search", "--json", "--strategy", "bm25", "--", query) for query in QUERIES),
    ("search", "--", "--help"),
    ("search", "apple", "--path", NO_TEXT),
    ("search", "apple", "--path", "["),
]


def write_documents(base: Path) -> Path:
    """A folder with one document, and its configuration."""
    (base / "docs").mkdir()
    (base / "docs" / "pie.md").write_text("# Apple pie\n\nHow to bake a café-style apple pie 🥧.\n", encoding="utf-8")
    return write_configuration(base / "docmill.yaml", base / "docs")


class Beside:
    """A folder with a running docmill, what came of each call, and a shell."""

    def __init__(self, base: Path, done: "dict[tuple[str, ...], subprocess.CompletedProcess[str]]") -> None:
        self.base = base
        self.done = done

    def shell(self, command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command line in which ``docmill`` stands for the program, with output that is buffered as a user's is."""
        env = environment(settings)
        env.pop("PYTHONUNBUFFERED", None)
        text = command.replace("docmill ", f"{PROGRAM} ")
        return subprocess.run(["bash", "-c", text], cwd=self.base, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    """Every call was made beside a running docmill."""
    base = tmp_path_factory.mktemp("beside")
    calls = [*(call for call, _ in REFUSED), *ANSWERED, (), ("config",)]
    with RunningDocmill(write_documents(base), base / ".docmill") as running:
        running.wait_until_found("apple", ["docs/pie.md"])
        yield Beside(base, dict(zip(calls, run_each(calls, base), strict=True)))


def named(value: object) -> str | None:
    return ascii(" ".join(value)[:60]) if isinstance(value, tuple) else None


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=named)
def test_a_wrong_call_ends_with_2_and_one_line(beside: Beside, call: tuple[str, ...], says: str) -> None:
    assert says in one_line(beside.done[call])
    assert (beside.done[call].returncode, beside.done[call].stdout) == (2, "")


@pytest.mark.parametrize("call", [(), ("config",)], ids=named)
def test_a_command_without_a_verb_prints_its_help_and_ends_with_2(beside: Beside, call: tuple[str, ...]) -> None:
    assert beside.done[call].returncode == 2
    assert beside.done[call].stderr.startswith("Usage: docmill")
    assert "Traceback" not in beside.done[call].stderr


@pytest.mark.parametrize("call", ANSWERED, ids=named)
def test_any_text_is_a_query(beside: Beside, call: tuple[str, ...]) -> None:
    assert beside.done[call].returncode in (0, 1), beside.done[call].stderr
    assert beside.done[call].stderr in ("", "no results\n")
    if "--json" in call:
        assert isinstance(json.loads(beside.done[call].stdout)["results"], list)


@pytest.mark.parametrize("option", ["", "--json"])
def test_output_that_cannot_be_written_is_one_line(beside: Beside, option: str) -> None:
    done = beside.shell(f"docmill search apple {option} > /dev/full")
    assert done.returncode == 2
    assert "output cannot be written: No space left on device" in one_line(done)


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_reader_that_goes_away_is_no_error(beside: Beside, option: str) -> None:
    assert beside.shell(f"docmill search apple {option} | true").stderr == ""


@pytest.mark.parametrize("command", ["search apple 2>&-", "search apple >&-", "index docmill.yaml --data-dir other <&- >&- 2>&-"])
def test_closed_streams_are_no_error(beside: Beside, command: str) -> None:
    done = beside.shell(f"docmill {command}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_lacks_a_character_shows_its_number(beside: Beside) -> None:
    done = beside.shell("docmill search apple", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"caf\xe9-style apple pie \U0001f967" in done.stdout


def test_a_verb_that_asks_keeps_its_log_off_standard_output(tmp_path: Path) -> None:
    (tmp_path / "docmill.yaml").write_text(
        "models: {m: {provider: openai, model: x, base_url: 'http://127.0.0.1:9/v1', token_key: HOME}}\n"
        "rag: {kb: {docs: [.], strategies: [{type: chunked-embeddings, embedding_model: m, vector_dimensions: 8}]}}\n",
        encoding="utf-8",
    )
    indexed, asked = run_each([("index", "docmill.yaml"), ("search", "x", "--json")], tmp_path)
    assert indexed.returncode in (1, 3)
    assert (asked.returncode, asked.stdout) == (3, "")
    assert "no strategy could answer" in one_line(asked)
