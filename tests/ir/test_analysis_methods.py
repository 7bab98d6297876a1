"""Analyses are methods of programs, faults inside columns are shown, and the stub is true."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import kleene
from kleene.ir import Builder, Program
from kleene.ir import analysis_methods as methods

STUB = Path(inspect.getfile(methods)).with_suffix(".pyi")
HEAD = (
    '''"""Written by `pytest tests/ir/test_analysis_methods.py --update-golden`: do not edit."""'''
)
KINDS = {"Program": "ProgramAnalyses", "Core": "CoreAnalyses"}


class Faulty(Program):
    """A program with a mistake inside a column."""

    @cached_property
    def column(self) -> int:
        return self.instructions.opcodes  # type: ignore[attr-defined]


def test_an_attribute_error_inside_a_column_names_its_cause() -> None:
    empty = Builder("empty").finish()
    fields = {name: getattr(empty, name) for name in Program.__dataclass_fields__}
    with pytest.raises(AttributeError, match="'Instructions' object has no attribute 'opcodes'"):
        _ = Faulty(**fields).column


def test_a_name_that_no_analysis_has_is_refused() -> None:
    with pytest.raises(AttributeError, match="'Program' object has no attribute 'point_to'"):
        Builder("empty").finish().point_to()


@pytest.mark.parametrize("name", methods.available())
def test_every_analysis_is_a_method_with_its_own_help(name: str) -> None:
    analysis = import_module(methods.module_of(name)).ANALYSIS
    assert analysis.__dataclass_params__.frozen
    asked = getattr(Builder("empty").finish(), name)
    assert asked.__doc__ == analysis.__doc__
    with pytest.raises(TypeError, match="no_such_option"):
        asked(no_such_option=True)


def test_an_analysis_of_another_language_says_what_it_takes() -> None:
    core = kleene.scheme.parse("(define (f x) x)")
    with pytest.raises(kleene.SourceError) as refused:
        core.points_to()
    assert refused.value.id == "points-to/not-c"
    assert "program.cfa()" in refused.value.notes[0]
    with pytest.raises(kleene.SourceError) as refused:
        Builder("empty").finish().cfa()
    assert refused.value.id == "cfa/not-scheme"
    assert "program.points_to()" in refused.value.notes[0]


def test_what_is_asked_may_be_given_by_place() -> None:
    program = Builder("empty").finish()
    with pytest.raises(kleene.SourceError, match="there is no dataflow client 'rangs'"):
        program.dataflow("rangs", library=True)
    with pytest.raises(TypeError, match="2 arguments by place, where 1 are taken"):
        program.dataflow("ranges", True)
    with pytest.raises(TypeError, match="1 arguments by place, where 0 are taken"):
        program.points_to(True)


def test_the_stub_is_up_to_date(update_golden: bool) -> None:
    wanted = stub()
    if update_golden:
        STUB.write_text(wanted, encoding="utf-8")
    assert STUB.read_text(encoding="utf-8") == wanted


def stub() -> str:
    """Return the stub: for each analysis a method with its fields as options."""
    analyses = {
        name: import_module(methods.module_of(name)).ANALYSIS for name in methods.available()
    }
    imports = {"from kleene.base.device import Device"}
    for analysis in analyses.values():
        imports |= needed_imports(analysis)
    names = "def available() -> list[str]: ...\ndef module_of(name: str) -> str: ..."
    names += "\ndef n_by_place(analysis: object) -> int: ..."
    parts = [HEAD, "\n".join(sorted(imports)), names]
    for kind, mixin in KINDS.items():
        asked = [
            method(name, analysis)
            for name, analysis in analyses.items()
            if inspect.signature(analysis.run).parameters["program"].annotation == kind
        ]
        parts.append("\n".join([f"class {mixin}:", "    __slots__ = ()", *asked]))
    return formatted("\n\n".join(parts) + "\n")


def formatted(text: str) -> str:
    """Return the text as the formatter of this project has it."""
    for step in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout
    return text


def method(name: str, analysis: Any) -> str:
    """Return one method: the fields of the analysis as options, its docstring, its result."""
    options = [
        f"{field.name}: {field.type} = {field.default!r}"
        for field in analysis.__dataclass_fields__.values()
    ]
    n_places = methods.n_by_place(analysis)
    lines = [
        f"    def {name}(",
        "        self,",
        *(f"        {option}," for option in options[:n_places]),
        "        *,",
        *(f"        {option}," for option in options[n_places:]),
        "        device: Device | str = ...,",
        "        threads: int | None = None,",
        f"    ) -> {inspect.signature(analysis.run).return_annotation}:",
    ]
    return "\n".join([*lines, f'        """{analysis.__doc__.splitlines()[0]}"""'])


def needed_imports(analysis: Any) -> set[str]:
    """Return the imports of the analysis' file that its options and its result need."""
    fields = analysis.__dataclass_fields__.values()
    result = inspect.signature(analysis.run).return_annotation
    used = set(re.findall(r"\w+", " ".join([result, *(str(field.type) for field in fields)])))
    return {
        ast.unparse(ast.ImportFrom(node.module, [alias], node.level))
        if isinstance(node, ast.ImportFrom)
        else ast.unparse(ast.Import([alias]))
        for node in ast.walk(ast.parse(Path(inspect.getfile(analysis)).read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (alias.asname or alias.name) in used
    }
