"""Makes the page of idioms that points-to analysis does not follow, of the assumptions in the code.

`pytest tests/docs --update-golden` writes it.
"""

from __future__ import annotations

from pathlib import Path

from kleene.analyses.points_to.constraints.assumptions import Assumption, Assumptions

PAGE = Path(__file__).resolve().parent / "reference" / "not-followed.md"
_HEAD = """\
# Which idioms are not followed

An answer of [points-to analysis](points-to.md) covers every run of a program, if some sentences
hold of the program. This page lists all of them, and what in a program would break them. It is made
of the list in the code that the summary prints from: nothing is assumed that does not stand here.

## Said where a program makes use of it

The summary and `statistics.assumptions` have these sentences where a program needs them.
"""
_ALWAYS = """
## Assumed of every program

"""


def page() -> str:
    """Return the page."""
    said = [a.value for a in Assumptions if a.value.text]
    always = [a.value for a in Assumptions if not a.value.text]
    return _HEAD + "".join(map(_said, said)) + _ALWAYS + "".join(map(_row, always))


def _said(assumption: Assumption) -> str:
    text = assumption.text.replace("{}", "…")
    example = f"\n```c\n{assumption.example}\n```\n" if assumption.example else ""
    return f"""
### {assumption.idiom}

*{text}*
{example}
What to do: {assumption.remedy}.
"""


def _row(assumption: Assumption) -> str:
    return f"{assumption.idiom}\n: `{assumption.example}`. What to do: {assumption.remedy}.\n\n"
