"""The directive `benchmark`: a result of `benchmarks/results`, read when the page is built.

    ```{benchmark} points_to
    :columns: input; SVF solve (s); SVF / ours
    :rows: closed
    ```

shows the command with its date and machine, the chosen columns of the rows that match the regular
expression, medians without the smallest and largest times, and the plot (another one with `:plot:`,
none with `:no-plot:`). A column or row that is no longer there fails the build.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

_RANGE = re.compile(r" \[[^\]]*\.\.[^\]]*\]")  # of times: [min..max]
RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
_COMMAND = re.compile(r"`python benchmarks/[^`]*`(,|$)")  # and the day and machine


@dataclass(frozen=True, slots=True)
class Result:
    """A result file: what stands above its table, and the table."""

    command: str
    columns: list[str]
    rows: list[list[str]]

    @classmethod
    def read(cls, text: str) -> Result:
        """Return the parts of a file that the harness wrote."""
        lines = text.splitlines()
        (command,) = (line for line in lines if _COMMAND.match(line))
        columns, _, *rows = ([*cells(line)] for line in lines if line.startswith("|"))
        return cls(command, columns, rows)

    def chosen(self, columns: list[str], pattern: str) -> list[list[str]]:
        """Return the head and the rows that match, with these columns; KeyError without them."""
        if missing := [name for name in columns if name not in self.columns]:
            raise KeyError(f"no column {missing[0]!r}: there are {'; '.join(self.columns)}")
        places = [self.columns.index(name) for name in columns]
        rows = [row for row in self.rows if re.search(pattern, " | ".join(row))]
        if not rows:
            raise KeyError(f"no row matches {pattern!r}")
        return [columns, *([row[place] for place in places] for row in rows)]


def cells(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


class Benchmark(SphinxDirective):
    """Shows one result."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "columns": directives.unchanged_required,
        "rows": directives.unchanged,
        "plot": directives.unchanged_required,
        "no-plot": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the command, the table and the plot."""
        name = self.arguments[0]
        file = RESULTS / f"{name}.md"
        self.env.note_dependency(str(file))
        columns = [column.strip() for column in self.options["columns"].split(";")]
        try:
            result = Result.read(file.read_text(encoding="utf-8"))
            head, *rows = result.chosen(columns, self.options.get("rows", ""))
        except (OSError, KeyError, ValueError) as error:
            raise self.error(f"benchmark {name}: {error}") from None
        shown = [result.command, "", line(head), line(["---"] * len(head)), *map(line, rows), ""]
        if "no-plot" not in self.options:
            plot = self.options.get("plot", name)
            up = "../" * (1 + self.env.docname.count("/"))
            shown += [f"![{plot}]({up}benchmarks/results/{plot}.png)", ""]
        box = nodes.container(classes=["benchmark"])
        self.state.nested_parse(StringList(shown, source=str(file)), self.content_offset, box)
        return box.children


def line(row: list[str]) -> str:
    """Return a row as Markdown, medians alone."""
    return "| " + " | ".join(_RANGE.sub("", cell) for cell in row) + " |"


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("benchmark", Benchmark)
    return {"version": "1", "parallel_read_safe": True}
