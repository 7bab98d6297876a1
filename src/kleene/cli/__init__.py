"""The command line: it wires the rooms together, and is the one place that sees them all.

One file in `commands` is one command; there is no list to edit. A command's module is light to
import, and only the asked-for one is.
"""

from __future__ import annotations

import os
import sys

from kleene.cli import discover
from kleene.cli.exit_codes import ExitCode
from kleene.cli.guard import ends
from kleene.cli.options import UsageError, parsed
from kleene.cli.output import open_standard_streams, say


def main() -> None:
    """Run the command line; `exit_codes.ExitCode` says how it may end."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


def _run() -> None:
    open_standard_streams()
    name, *words = sys.argv[1:] or [""]
    if name in discover.available() and "_KLEENE_COMPLETE" not in os.environ:
        command = discover.load(name)
        given = parsed(words, command.parameters)
        try:
            if given is not None:
                return command.run(**given)
        except UsageError:
            pass  # nothing has been done yet, and Typer says what is wrong
    from kleene.cli.app import app

    with ends(lambda error: say(error.render())):
        app(prog_name="kleene")
