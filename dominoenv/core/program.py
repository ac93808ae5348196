"""What all command-line programs share: their exit status, and errors as one sentence."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from dominoenv.core.output import accept_any_text, printable_lines
from dominoenv.errors import DominoError, RecordError

OK, INVALID, WRONG_USE = range(3)  # exit statuses
STOPPED_BY = 128  # plus the number of a signal, as shells have it
STOPPING = ("SIGTERM", "SIGHUP")  # treated as Ctrl-C: from clusters, containers, closed terminals
FULL = (errno.ENOSPC, errno.EIO)  # a full disk, a terminal that was closed
OWN = ("dominoenv", "agents", "experiments")  # modules that no extra brings
Main = Callable[[], int | None]


def run_program(main: Main, extra: str = "train") -> NoReturn:
    """Run a program and exit with its status; see `exit_status`."""
    sys.exit(exit_status(main, extra))


def exit_status(main: Main, extra: str = "train") -> int:
    """Run a program and return its exit status; what goes wrong is one sentence on stderr.

    extra: the extra of the package that has what the program imports.
    """
    accept_any_text()
    with interrupted_by_signals() as received:
        try:
            return main() or OK
        except DominoError as error:
            report(f"error: {error}")
            return status_of(error)
        except ImportError as error:
            report(f"error: {_import_error(error, extra)}")
        except KeyboardInterrupt as stop:
            report(str(stop) or "stopped")
            return STOPPED_BY + (received or [signal.SIGINT])[0]
        except BrokenPipeError:  # whoever read the output has left
            _discard_output()
        except OSError as error:
            if error.errno not in FULL:
                raise
            report(f"error: cannot write: {error.strerror}")
            _discard_output()
        return WRONG_USE


@contextmanager
def interrupted_by_signals() -> Iterator[list[int]]:
    """Let other signals that ask the program to end raise KeyboardInterrupt; list those received.

    A signal that is ignored stays so, as `nohup` wants it. Outside of the main thread nothing
    changes.
    """
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in STOPPING if hasattr(signal, name)):
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, interrupt)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _discard_output() -> None:
    """Let what is left in the buffer of the output go nowhere when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_error(error: DominoError) -> int:
    """Print what is wrong on stderr, nothing before it; return the exit status."""
    report(str(error))
    return status_of(error)


def status_of(error: DominoError) -> int:
    """Return INVALID for a file whose content is at fault, else WRONG_USE."""
    is_invalid = isinstance(error, RecordError) and not isinstance(error.__cause__, OSError)
    return INVALID if is_invalid else WRONG_USE


def report(text: str) -> None:
    """Print a line on stderr."""
    print(printable_lines(text), file=sys.stderr, flush=True)


def _import_error(error: ImportError, extra: str) -> str:
    """Return what is missing and how to get it; raise what is a fault of the program itself."""
    if error.name is None:  # it was raised with a text that says all
        return str(error)
    if not isinstance(error, ModuleNotFoundError) or error.name.partition(".")[0] in OWN:
        raise error
    return f'{error}: pip install "dominoenv[{extra}]"'
