"""The `tapeviz` command: one module per subcommand, one table that lists them, one place that reports errors."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tapeviz import __version__
from tapeviz.cli import commands
from tapeviz.cli.errors import UserError
from tapeviz.recording.rows import RecordingError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 well, 1 the script failed, 2 the user's mistake."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return commands.dispatch(arguments, version=__version__)
    except (UserError, RecordingError) as error:
        print(f"tapeviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tapeviz: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:   # `tapeviz diagnose … | head`: the reader has gone, which is no error of anybody's
        sys.stderr.close()
        return 0
