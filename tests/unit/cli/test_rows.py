"""What commands print of values with labels."""

import io
from typing import Any

import pytest
from rich.console import Console

from docmill_services.cli.dry_run import _cost, _line
from docmill_services.cli.output import counted, print_rows, printable
from docmill_services.cli.status_command import rows_of

NOON = 1_800_000_000.0
BEFORE, AFTER = "2027-01-15T07:59:00.000Z", "2027-01-15T08:01:00.000Z"


def printed(*rows: tuple[str, str]) -> str:
    file = io.StringIO()
    print_rows("notes", rows, to=Console(file=file, width=30, soft_wrap=True))
    return file.getvalue()


def test_what_is_printed_for_other_programs_has_whole_lines_without_padding() -> None:
    long = "a value that is longer than a line is wide"
    assert printed(("state", "ready"), ("documents", long), ("", "[red]x")) == (
        f"notes\nstate      ready\ndocuments  {long}\n           [red]x\n"
    )


def test_one_thing_is_no_plural() -> None:
    assert [counted(number, "file") for number in (0, 1, 2, 1234)] == ["0 files", "1 file", "2 files", "1,234 files"]


def standing(**parts: Any) -> dict[str, Any]:
    counts = {"documents": {"live": 1, "failed": 0}, "chunks": {"words": 3}}
    return {
        "state": "ready",
        **counts,
        "index_sets": [],
        "run": None,
        "gate": [],
        "reranking": [],
        "stores": {},
        "watching": True,
        "producer": True,
        **parts,
    }


def row(label: str, **parts: Any) -> str:
    return next(str(value) for name, value in rows_of(standing(**parts), NOON) if name == label)


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"state": "open"}, "openai open"),
        ({"state": "probing"}, "openai probing"),
        ({"state": "closed", "opens_at": AFTER}, f"openai closed until {AFTER}"),
        ({"state": "closed", "opens_at": BEFORE}, "openai closed, to be tried by the next request"),
    ],
)
def test_a_gate_is_never_said_to_be_closed_until_a_time_that_is_over(gate: dict[str, str], said: str) -> None:
    assert row("provider", gate=[{"provider": "openai", **gate}]) == said


def test_a_run_is_shown_with_what_it_counted() -> None:
    counters = {"seen": 2, "failed.provider.transient": 1, "planned": 0}
    run = {"state": "backing_off", "retry_at": BEFORE, "started_at": BEFORE, "finished_at": None, "counters": counters}
    assert row("run", run=run) == f"backing_off, and tries its provider again, started {BEFORE}; 1 failed provider.transient, 2 seen"


def work(model: str, cost: float | None) -> dict[str, Any]:
    estimates = {"requests_estimate": 1, "input_tokens_estimate": 8, "output_tokens_estimate": 0, "cost_usd_estimate": cost}
    return {"model": model, "role": "embedding", "texts": 1, **estimates}


def test_a_cost_that_is_not_known_names_the_models_without_a_price() -> None:
    models = [work("openai/a", 0.5), work("acme/b", None), work("acme/c", None)]
    assert _cost({"cost_usd_estimate": None, "models": models}) == "not known: models: has no price of acme/b, acme/c"


def test_what_costs_next_to_nothing_is_not_said_to_cost_nothing() -> None:
    assert _line(work("openai/a", 0.00000016)) == "openai/a: 1 text, about 8 tokens, 1 request, less than $0.0001"
    assert _cost({"cost_usd_estimate": 0.0, "models": []}) == "$0.00"


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert printable("a\x1b[31mred\x07\n\tb\x9bc") == "a\ufffd[31mred\ufffd\n\tb\ufffdc"
