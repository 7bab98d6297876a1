"""How many planted defects do the dataflow clients find, with how many false alarms, and others?

The program is `tests/programs/defects`: shapes of the families CWE 476, 457, 369, 78, 134, 190, 561
and 563 in several files, with good twins. A defect counts as found if its line is reported for its
family; any other report of the family is a false alarm. The rivals run on the same files, each
with its default checks, if they are installed: `gcc -fanalyzer`, `clang --analyze`, `cppcheck`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness import Table, measure

sys.path.insert(0, str(Path(__file__).parents[1]))

import kleene
from kleene.analyses.dataflow.clients import client
from kleene.analyses.dataflow.context import Context
from tests.analyses.dataflow.defects import FAMILIES, PROGRAM, scores

CLIENTS = {
    "null": "476", "division": "369", "uninitialised": "457", "dead-code": "561",
    "dead-stores": "563", "allocations": "190",
}  # fmt: skip
USES = {"command": "78", "library": "78", "format": "134", "length": "190", "size": "190"}
Report = tuple[str, str, int]  # family, file, line
# What rivals call these families.
WORDS = (
    (r"null", "476"), (r"uninit|undefined|UndefinedBinary|uninitvar", "457"),
    (r"div-by-zero|DivideZero|zerodiv|tainted-divisor", "369"), (r"format-security", "134"),
    (r"tainted-(allocation-)?size", "190"), (r"unreachable|DeadCode|alwaysFalse", "561"),
    (r"DeadStore|unused-but-set|unreadVariable|redundantAssignment", "563"),
)  # fmt: skip


def ours() -> list[Report]:
    """Return what the clients report."""
    program = kleene.load(PROGRAM)
    context = Context(program, device="cpu")
    found: list[Report] = []
    for name in (*CLIENTS, "taint"):
        for one in client(name).answer(context).findings:
            family = CLIENTS.get(name) or next(
                family for use, family in USES.items() if f"as a {use} " in one.message
            )
            assert one.span is not None
            found.append((family, one.span.file, one.span.line))
    return found


def family_of(check: str) -> str | None:
    """Return the family that a rival's check belongs to."""
    return next((family for word, family in WORDS if re.search(word, check)), None)


def gcc(folder: Path) -> Iterator[Report]:
    """Yield what gcc's analyzer reports."""
    for file in sorted(PROGRAM.glob("*.c")):
        command = ["gcc", "-c", "-O0", "-Wall", "-Wextra", "-Wformat-security", "-fanalyzer",
                   "-fdiagnostics-format=json", str(file), "-o", str(folder / "out.o")]  # fmt: skip
        text = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        for one in json.loads(text or "[]"):
            family = family_of(one.get("option", ""))
            if family:
                caret = one["locations"][0]["caret"]
                yield family, caret["file"], caret["line"]


def clang(folder: Path) -> Iterator[Report]:
    """Yield what clang's analyzer reports."""
    for file in sorted(PROGRAM.glob("*.c")):
        out = folder / "out.sarif"
        command = ["clang", "--analyze", "-Xclang", "-analyzer-output=sarif", "-o", str(out),
                   str(file)]  # fmt: skip
        subprocess.run(command, capture_output=True, check=False)
        for one in json.loads(out.read_text())["runs"][0]["results"]:
            family = family_of(one["ruleId"])
            place = one["locations"][0]["physicalLocation"]
            if family:
                yield family, place["artifactLocation"]["uri"], place["region"]["startLine"]


def cppcheck(_folder: Path) -> Iterator[Report]:
    """Yield what cppcheck reports, all files in one run."""
    command = ["cppcheck", "--enable=warning,style", "--template={id}|{file}|{line}", str(PROGRAM)]
    text = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    for line in text.splitlines():
        check, file, number = [*line.split("|"), "", "0"][:3]
        family = family_of(check)
        if family and number.isdigit():
            yield family, file, int(number)


def main() -> None:
    question = (__doc__ or "").splitlines()[0]
    table = Table("dataflow_defects", question)
    mine = measure(ours, repeat=1)
    own = scores(mine.result)
    rivals = {"gcc": gcc, "clang": clang, "cppcheck": cppcheck}
    with tempfile.TemporaryDirectory() as folder:
        others = {}
        for name, run in rivals.items():
            if shutil.which(name):
                start = time.perf_counter()
                others[name] = scores(run(Path(folder)))
                print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    for family, words in FAMILIES.items():
        score = own[family]
        columns = {
            name: f"{len(found[family].found)} of {score.n_planted},"
            f" {len(found[family].false)} false"
            for name, found in others.items()
        }
        table.row(
            input=f"CWE {family}: {words}",
            size=f"{score.n_planted} planted, {score.n_good} good twins",
            ours=mine,
            agree=len(score.missed) <= 1,
            **{
                "found": f"{len(score.found)} of {score.n_planted}",
                "false alarms": str(len(score.false)),
                **columns,
            },
        )
    table.save()


if __name__ == "__main__":
    main()
