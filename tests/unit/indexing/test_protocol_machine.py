"""The protocol over the twins in memory, under any order of edits, messages, faults and time; and the defects that this finds."""

import logging
import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from support.protocol_machine import ProtocolMachine
from support.protocol_machine_parts import Parts
from support.protocol_machine_plants import PLANTS

#: How many times as deep as usual to search; 1 takes seconds.
DEPTH = int(os.environ.get("DOCMILL_TEST_DEPTH", "1"))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


def machine_with(parts: Parts) -> type[ProtocolMachine]:
    return type("PlantedMachine", (ProtocolMachine,), {"PARTS": parts})


def effort(examples: int, *phases: Phase) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=40,
        derandomize=DEPTH == 1,
        database=None,
        deadline=None,
        print_blob=DEPTH > 1,
        phases=phases or (Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def test_whatever_happens_queries_are_exact_and_the_index_converges_to_the_source() -> None:
    run_state_machine_as_test(ProtocolMachine, settings=effort(150 * DEPTH))


def test_without_anti_entropy_it_converges_all_the_same_while_requests_end_within_the_grace() -> None:
    run_state_machine_as_test(machine_with(Parts(anti_entropy=False, set_back=False)), settings=effort(100 * DEPTH))


@pytest.mark.parametrize("rule", PLANTS)
def test_a_protocol_without_one_of_its_rules_is_found_out(rule: str) -> None:
    with pytest.raises((AssertionError, KeyError)):  # the second: it trips over what was taken away
        run_state_machine_as_test(machine_with(PLANTS[rule]), settings=effort(2000, Phase.generate))
