"""Every error id of the source is in the reference, and the other way round."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "errors.md"
ID = re.compile(r"[a-z]+(-[a-z]+)*/[a-z]+(-[a-z]+)*")


def ids_raised() -> set[str]:
    """Return the ids in the source: `SourceError(span, "room/what", ...)` and the like.

    Errors about arguments of generated functions have no place, and begin with their id.
    """
    return {
        argument.value
        for file in (ROOT / "src").rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and len(call.args) >= 3
        for argument in call.args[0 if _is_about_arguments(call) else 1 :][:1]
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and ID.fullmatch(argument.value)
    }


def _is_about_arguments(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("ArgumentError", "_argument_error")


def ids_documented() -> set[str]:
    return set(re.findall(r"^\| `(.*?)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def test_the_table_of_errors_is_complete() -> None:
    assert ids_raised(), "the source holds no error id: the search is at fault"
    assert ids_raised() - ids_documented() == set(), "not in docs/reference/errors.md"
    assert ids_documented() - ids_raised() == set(), "documented, but nowhere raised"
