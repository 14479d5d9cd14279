"""Contents that harm whoever loads them, in processes that have ``STARTUP`` on their Python path, as a defect in a parser would."""

from pathlib import Path
from typing import Final

#: For PYTHONPATH: what is in it runs when an interpreter starts.
STARTUP: Final = Path(__file__).with_name("startup")

KILLS: Final = b"KILLS-WHOEVER-LOADS-THIS"
LEAVES: Final = b"LEAVES-WITH-SEVEN"
FORGETS_NOTHING: Final = b"FORGETS-NOTHING"
HANGS: Final = b"HOLDS-UP-WHOEVER-LOADS-THIS"
PRINTS: Final = b"PRINTS-WHAT-NOBODY-ASKED-FOR"
