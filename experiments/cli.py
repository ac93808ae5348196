"""Shared by the command-line programs: errors as one sentence, exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable

from dominoenv import DominoError

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes


def run_program(main: Callable[[], None]) -> None:
    """Run a program and exit: bad input is one sentence on stderr and exit code 2."""
    try:
        main()
    except (DominoError, ImportError) as error:
        hint = ': pip install -e ".[train]"' if isinstance(error, ModuleNotFoundError) else ""
        print(f"error: {error}{hint}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt as stop:
        print(str(stop) or "stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
