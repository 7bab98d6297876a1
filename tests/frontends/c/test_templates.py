"""The C++ library's templates have bodies in the modules that use them."""

from __future__ import annotations

from pathlib import Path

import kleene
from kleene.frontends.c.templates import without_declarations


def test_declarations_go_and_lines_stay():
    text = (
        "a;\nextern template class\n  B<char>;\nc;\n#define D(...) extern template __VA_ARGS__;\n"
    )
    assert without_declarations(text) == "a;\n\n\nc;\n#define D(...) \n"


def test_a_string_is_instantiated_where_it_is_used(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    source.write_text(
        "#include <string>\n"
        "int main(int n, char **v) { std::string s(v[0]); return s.append(v[n]).size(); }\n"
    )
    program = kleene.load([source], std="c++17", cache=False)
    defined = {f.name for f in program.functions if len(f.blocks)}
    assert any("basic_stringIc" in name and "6appendEPKc" in name for name in defined)
    files = {f.span.file for f in program.functions if f.span is not None}
    assert not any("kleene-" in file for file in files)  # the headers have their own names
    assert any("std::char_traits" in line for line in program.points_to().system.assumptions)
