"""Command line."""


def main() -> None:
    """The ``docmill`` command."""
    raise SystemExit(0)
