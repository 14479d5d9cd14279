"""The protocol over the twins in memory, under any order of edits, messages, faults and time; and the defects that this finds."""

import logging
import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from support.protocol_machine import ProtocolMachine
from support.protocol_machine_parts import Parts
from support.protocol_machine_plants import PLANTS

#: How many times as much as usual is tried; 1 takes seconds.
DEPTH = int(os.environ.get("DOCMILL_TEST_DEPTH", "1"))
#: Of one seed. Hypothesis would make most of the later ones by repeating parts of earlier ones, which finds ten times less here.
EXAMPLES = 9


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


def run(parts: Parts, seeds: range, *phases: Phase) -> None:
    """Runs the machine with every seed; a failure says with which one it came."""
    machine = type("Machine", (ProtocolMachine,), {"PARTS": parts})
    effort = settings(
        max_examples=EXAMPLES,
        stateful_step_count=60,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=phases,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    for number in seeds:
        try:
            run_state_machine_as_test(seed(number)(machine), settings=effort)
        except BaseException as error:
            error.add_note(f"found with seed {number}")
            raise


def test_whatever_happens_queries_are_exact_and_the_index_converges_to_the_source() -> None:
    run(Parts(), range(20 * DEPTH), Phase.generate, Phase.shrink)


def test_without_anti_entropy_it_converges_all_the_same_while_requests_end_within_the_grace() -> None:
    run(Parts(anti_entropy=False, set_back=False), range(12 * DEPTH), Phase.generate, Phase.shrink)


@pytest.mark.parametrize("missing_rule", PLANTS)
def test_a_protocol_without_one_of_its_rules_is_found_out(missing_rule: str) -> None:
    with pytest.raises((AssertionError, KeyError)):  # the second: it trips over what was taken away
        run(PLANTS[missing_rule], range(300), Phase.generate)
