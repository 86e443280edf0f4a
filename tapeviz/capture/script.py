"""The user's script: reading it, running it as `__main__`, and saying plainly when it cannot be run."""

from __future__ import annotations

import builtins
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

__gradtape__ = True   # the frames of this module are not the user's


class ScriptError(Exception):
    """A script cannot be run; the message is one for the user. `syntax` is the SyntaxError, if it is one."""

    def __init__(self, message: str, syntax: SyntaxError | None = None) -> None:
        super().__init__(message)
        self.syntax = syntax


@dataclass(frozen=True)
class Script:
    """A script that compiles."""

    given: str        # as it was asked for: becomes sys.argv[0]
    path: Path
    code: CodeType


def load(given: str) -> Script:
    """Read and compile a script. Raises ScriptError."""
    path = Path(given).absolute()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ScriptError(f"there is no script {given}") from None
    except IsADirectoryError:
        raise ScriptError(f"{given} is a folder, not a script") from None
    except OSError as error:
        kind = "a folder, not a script" if path.is_dir() else f"not readable ({error.strerror or error})"
        raise ScriptError(f"{given} is {kind}") from None
    if b"\0" in data:
        raise ScriptError(f"{given} is no Python script: it holds binary data")
    try:
        code = compile(data, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        error.__traceback__ = None
        if error.lineno is None or "codec can't decode" in str(error) or "encoding" in str(error):
            raise ScriptError(f"{given} is no Python script: {error.msg}") from None
        raise ScriptError("".join(traceback.format_exception_only(error)).rstrip("\n"), error) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ScriptError(f"{given} cannot be compiled: {error or type(error).__name__}") from None
    return Script(given, path, code)


def run(script: Script, arguments: list[str]) -> None:
    """Run a script as `__main__`, with sys.argv and sys.path[0] as `python script.py` has them."""
    module = ModuleType("__main__")
    module.__dict__.update(__file__=str(script.path), __builtins__=builtins, __cached__=None)
    module.__spec__ = None
    sys.modules["__main__"] = module
    sys.argv = [script.given, *arguments]
    sys.path.insert(0, os.path.realpath(script.path.parent))
    exec(script.code, module.__dict__)
