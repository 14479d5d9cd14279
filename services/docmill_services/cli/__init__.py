"""Command line."""

import sys

from docmill.domain.errors import DocmillError, ExitCode


def main() -> None:
    """The ``docmill`` command: runs a verb and turns what it raises into one line on standard error and an exit code."""
    from docmill_services.cli.app import app

    try:
        code = app(standalone_mode=False)
    except DocmillError as error:
        print(f"docmill: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is nobody to tell
        sys.exit(ExitCode.OK)
    sys.exit(code if isinstance(code, int) else ExitCode.OK)
