"""Bad input on the command line: one line on standard error that says what is wrong, the documented exit code, no traceback."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.one_line import one_line
from support.running_docmill import PROGRAM, docmill, environment, write_configuration


class Indexed:
    """A folder that was indexed, and its data folder."""

    def __init__(self, base: Path) -> None:
        self.base = base
        (base / "docs").mkdir()
        (base / "docs" / "pie.md").write_text("# Apple pie\n\nHow to bake a café-style apple pie 🥧.\n", encoding="utf-8")
        write_configuration(base / "docmill.yaml", base / "docs")
        self.command("index", "docmill.yaml", code=0)

    def command(self, *arguments: str, code: int | None = None) -> "subprocess.CompletedProcess[str]":
        done = docmill(*arguments, cwd=self.base)
        assert code is None or done.returncode == code, done.stderr
        return done

    def shell(self, command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command line in which ``docmill`` stands for the program, with output that is buffered as a user's is."""
        env = environment(settings)
        env.pop("PYTHONUNBUFFERED", None)
        text = command.replace("docmill ", f"{PROGRAM} ")
        return subprocess.run(["bash", "-c", text], cwd=self.base, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    yield Indexed(tmp_path_factory.mktemp("indexed"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
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
        (("up", "docs", "--host", "0.0.0.0"), "loopback addresses only"),
        (("up", "docs", "--host", "no such host"), "loopback addresses only"),
        (("up", "docs", "--host", ""), "loopback addresses only"),
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
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else None,
)
def test_a_wrong_call_ends_with_2_and_one_line(indexed: Indexed, arguments: tuple[str, ...], says: str) -> None:
    done = indexed.command(*arguments, code=2)
    assert says in one_line(done)
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [(), ("config",)])
def test_a_command_without_a_verb_prints_its_help_and_ends_with_2(indexed: Indexed, arguments: tuple[str, ...]) -> None:
    done = indexed.command(*arguments, code=2)
    assert done.stderr.startswith("Usage: docmill")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "query",
    [
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
    ],
    ids=lambda query: ascii(query[:20]),
)
def test_any_text_is_a_query(indexed: Indexed, query: str) -> None:
    done = indexed.command("search", query, "--json", "--strategy", "bm25")
    assert done.returncode in (0, 1)
    assert done.stderr == ""
    assert isinstance(json.loads(done.stdout)["results"], list)


def test_a_query_that_begins_with_a_dash_comes_after_two(indexed: Indexed) -> None:
    assert indexed.command("search", "--", "--help").returncode in (0, 1)


@pytest.mark.parametrize("option", ["--path", "--strategy", "--kb"])
def test_an_option_that_is_no_text_is_no_defect(indexed: Indexed, option: str) -> None:
    done = indexed.command("search", "apple", option, os.fsdecode(b"\xff"))
    assert done.returncode in (1, 2)
    assert "unexpectedly" not in one_line(done)


@pytest.mark.parametrize("json_option", ["", "--json"])
def test_output_that_cannot_be_written_is_one_line(indexed: Indexed, json_option: str) -> None:
    done = indexed.shell(f"docmill search apple {json_option} > /dev/full")
    assert done.returncode == 2
    assert "output cannot be written: No space left on device" in one_line(done)


def test_a_reader_that_goes_away_is_no_error(indexed: Indexed) -> None:
    assert indexed.shell("docmill search apple --json | true").stderr == ""
    assert indexed.shell("docmill search apple | true").stderr == ""


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["search apple", "index docmill.yaml"])
def test_closed_streams_are_no_error(indexed: Indexed, command: str, streams: str) -> None:
    done = indexed.shell(f"docmill {command} {streams}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_lacks_a_character_shows_its_number(indexed: Indexed) -> None:
    done = indexed.shell("docmill search apple", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"caf\xe9-style apple pie \U0001f967" in done.stdout
