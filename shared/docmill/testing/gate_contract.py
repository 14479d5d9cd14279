"""What every gate does: subclass :class:`GateContract`, give it a world, and pytest runs the suite on your gate."""

import pytest

from docmill.testing.gate_late_report_rules import LateReportRules
from docmill.testing.gate_limit_rules import LimitRules
from docmill.testing.gate_permit_rules import PermitRules
from docmill.testing.gate_rate_rules import RateRules
from docmill.testing.gate_run_rules import RunRules
from docmill.testing.gate_share_rules import ShareRules
from docmill.testing.gate_window_rules import WindowRules
from docmill.testing.gate_world import GateWorld


class GateContract(PermitRules, WindowRules, LateReportRules, LimitRules, RateRules, ShareRules, RunRules):
    """The suite; a subclass overrides the fixture ``world``."""

    @pytest.fixture
    def world(self) -> GateWorld:
        """A fresh gate."""
        raise NotImplementedError
