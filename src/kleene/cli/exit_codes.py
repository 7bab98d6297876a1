"""How a command may end: the one table of exit codes."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit code of every command means."""

    CLEAN = 0  # it ran, and found nothing wrong
    INPUT_AT_FAULT = 1  # an error with an id: the input, a limit, or a file that cannot be written
    WRONG_USAGE = 2  # an option or argument that there is not
    FINDINGS = 3  # it ran, and found something wrong in the program it was asked about
    INTERRUPTED = 130  # Ctrl-C
