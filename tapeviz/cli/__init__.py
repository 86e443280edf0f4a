"""The `tapeviz` command: one module per subcommand, one table that lists them, one place that reports errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tapeviz import __version__
from tapeviz.cli import commands
from tapeviz.cli.errors import UserError
from tapeviz.recording.rows import RecordingError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 well, 1 the script failed, 2 the user's mistake."""
    _open_what_is_closed()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = commands.dispatch(arguments, version=__version__)
        sys.stdout.flush()   # here, where a full disk can be told
        return code
    except (UserError, RecordingError) as error:
        print(f"tapeviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tapeviz: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:   # `tapeviz diagnose … | head`: the reader has gone, which is no error of anybody's
        _lead_nowhere(1)
        return 0
    except OSError as error:   # the output of the command itself has no place: `tapeviz info FILE > a-full-disk`
        _lead_nowhere(1)       # or the interpreter would try once more to write what is left, and complain
        print(f"tapeviz: {error}", file=sys.stderr)
        return 2


def _open_what_is_closed() -> None:
    """Started with closed standard streams (`>&-`, some schedulers) we and the script get ones that lead nowhere.

    Otherwise the next file or socket that is opened would become the standard output of the script.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            _lead_nowhere(number)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False, encoding="utf-8"))


def _lead_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    os.set_inheritable(number, True)
