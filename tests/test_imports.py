"""No module imports itself through others, and neither do the parts of a package."""

from __future__ import annotations

import grimp
import networkx as nx
import pytest

# Imported when somebody asks for it: a program shows and prints itself, an entry point brings the
# compiler, which describes entry points, who wrote a bitcode file is read as all its records, and
# the verdicts on loops bring what is generated from them.
ASKED_FOR = {
    ("kleene.frontends.c.bitcode", "kleene.frontends.c.reader"),
    ("kleene.frontends.c.bitcode", "kleene.frontends.c.reader.bitcodes"),
    ("kleene.frontends.c.bitcode", "kleene.frontends.c.reader.bitstream"),
    ("kleene.kernels.compiled", "kleene.kernels.machine_code"),
    ("kleene.ir.program", "kleene.ir.views"),
    ("kleene.ir.program", "kleene.ir.text.printer"),
    ("kleene.offload.kernels.result", "kleene.offload.plans"),
}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Who imports whom when the code runs; imports for type checkers alone do not count."""
    return grimp.build_graph("kleene", exclude_type_checking_imports=True)


def test_no_modules_import_each_other(imports: grimp.ImportGraph) -> None:
    assert cycles(edges(imports) - ASKED_FOR) == []


def test_no_parts_of_a_package_import_each_other(imports: grimp.ImportGraph) -> None:
    for package in sorted(imports.modules):
        parts = {
            (part_of(package, source), part_of(package, target))
            for source, target in edges(imports) - ASKED_FOR
            if source.startswith(f"{package}.") and target.startswith(f"{package}.")
        }
        assert cycles({(a, b) for a, b in parts if a != b}) == []


def edges(imports: grimp.ImportGraph) -> set[tuple[str, str]]:
    return {
        (module, imported)
        for module in imports.modules
        for imported in imports.find_modules_directly_imported_by(module)
    }


def cycles(pairs: set[tuple[str, str]]) -> list[list[str]]:
    components = nx.strongly_connected_components(nx.DiGraph(sorted(pairs)))
    return [sorted(component) for component in components if len(component) > 1]


def part_of(package: str, module: str) -> str:
    """Return the part of `package` that holds `module`: a module or folder right inside it."""
    depth = package.count(".") + 2
    return ".".join(module.split(".")[:depth])
