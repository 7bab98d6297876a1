"""How long does bitcode take to become tables: read as it is, after LLVM, and by LLVM's objects?"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from harness import Measurement, Table, measure

from kleene.frontends.c import reader
from kleene.frontends.c.exchange import Unit
from kleene.frontends.c.linking import link
from kleene.ir.canonical import same
from kleene.ir.codes import Opcode
from kleene.ir.program import Program

HERE = Path(__file__).parent
DATA = Path(os.environ.get("KLEENE_DATA") or HERE.parents[1] / "shared" / "data")
PROGRAMS = ("dc", "htop", "lua", "nginx", "sqlite3")
SMALL = "int square(int x) { return x * x; }\n"
N_PROCESSES = 5

# A fresh process loads one file and says how long, how much memory over the import, and whether
# the heavy packages had to be imported.
LOAD = """\
import json, resource, sys, time
from pathlib import Path
import kleene

def peak():  # of this process; ru_maxrss would begin with its parent's
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024

before = peak()
start = time.perf_counter()
kleene.load(sys.argv[1])
print(json.dumps({
    "load_s": time.perf_counter() - start,
    "memory_MiB": peak() - before,
    "children": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    "heavy": [name for name in ("llvmlite.binding", "numba") if name in sys.modules],
}))
"""


def walk(module: Any) -> Counter[str]:
    """Return how often each opcode occurs, having asked LLVM's objects for what an IR needs."""
    counts: Counter[str] = Counter()
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                counts[instruction.opcode] += 1
                _ = instruction.type.type_kind
                for operand in instruction.operands:
                    _ = operand.value_kind
    return counts


def opcodes(program: Program) -> Counter[str]:
    """Return how often each opcode occurs in our tables."""
    return Counter(Opcode(int(code)).name.lower() for code in program.instructions.opcode)


def once(fn: Any) -> Measurement:
    """Return the time of one call: a walk takes long enough to be measured once."""
    start = time.perf_counter()
    result = fn()
    seconds = time.perf_counter() - start
    return Measurement(seconds, seconds, seconds, seconds, result)


def installed(folder: str, cache: str) -> dict[str, str]:
    """Return an environment with this cache, where Python keeps what it compiles, as for a user."""
    folders = {"KLEENE_CACHE_DIR": f"{folder}/{cache}", "PYTHONPYCACHEPREFIX": f"{folder}/python"}
    kept = {key: v for key, v in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | folders


def load_apart(path: Path, folder: str, cache: str) -> dict[str, Any]:
    """Return what a fresh process says of loading `path` with this cache."""
    command = [sys.executable, "-c", LOAD, str(path)]
    answer = subprocess.run(command, capture_output=True, check=True, env=installed(folder, cache))
    return dict(json.loads(answer.stdout))


def loads(path: Path) -> dict[str, float]:
    """Return the figures of a first load and of later ones, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        load_apart(path, folder, "forgotten")  # Python compiles the modules
        first = load_apart(path, folder, "cache")
        again = [load_apart(path, folder, "cache") for _ in range(N_PROCESSES)]
    if any(later["heavy"] for later in again):
        raise ValueError(f"{path.name}: a load from the cache imports {again[0]['heavy']}")
    if first["children"]:
        raise ValueError(f"{path.name}: it was left to LLVM")
    return {
        "first load s": first["load_s"],
        "its MiB over the import": first["memory_MiB"],
        "second load s": statistics.median(later["load_s"] for later in again),
    }


def add_given(table: Table, name: str) -> None:
    """Measure what `kleene.load` does with a file, beside what it does where LLVM is needed."""
    path = DATA / "bitcode" / f"{name}.bc"
    raw = path.read_bytes()
    unit = Unit(str(path), "bitcode", False, raw)
    ours = measure(lambda: reader.read_given(raw))
    theirs = measure(lambda: reader.read(link([unit])), repeat=3)
    table.row(
        input=f"{name}.bc, as it is",
        size=f"{len(ours.result.instructions)} instructions, {len(raw) / 1e6:.3g} MB",
        ours=ours,
        rival="through LLVM's process",
        theirs=theirs,
        agree=same(ours.result, theirs.result) is None,
        **loads(path),
    )


def add_own(table: Table, name: str) -> None:
    """Measure reading our LLVM's bitcode beside a walk over LLVM's objects."""
    path = DATA / "bitcode" / f"{name}.bc"
    raw = path.read_bytes()
    parsing = once(lambda: llvm.parse_bitcode(raw, llvm.create_context()))
    writing = once(parsing.result.as_bitcode)
    printing = once(lambda: str(parsing.result))
    ours = measure(lambda: reader.read(writing.result))
    theirs = once(lambda: walk(parsing.result))
    counts = opcodes(ours.result)
    table.row(
        input=f"{name}.bc, from LLVM 22's bitcode",
        size=f"{counts.total()} instructions, {len(writing.result) / 1e6:.3g} MB",
        ours=ours,
        rival="llvmlite's objects",
        theirs=theirs,
        agree=counts == theirs.result,
        **{
            "LLVM parse s": parsing.median_s,
            "LLVM write s": writing.median_s,
            "LLVM print s": printing.median_s,
        },
    )


def add_command(table: Table) -> None:
    """Measure a whole cold process: the command line over one small file it has seen before."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "square.c"
        source.write_text(SMALL)
        command = [str(Path(sys.executable).with_name("kleene")), "ir", str(source)]
        environment = installed(folder, "cache")

        def run() -> bytes:
            return subprocess.run(command, capture_output=True, check=True, env=environment).stdout

        run()  # fills the cache
        ours = measure(run, repeat=N_PROCESSES)
    if b"mul" not in ours.result:
        raise ValueError("the command did not print the program")
    table.row(input="kleene ir square.c, a cold process, warm cache", size="1 line", ours=ours)


def main() -> None:
    table = Table("read_bitcode", str(__doc__))
    for name in PROGRAMS:
        add_given(table, name)
    for name in PROGRAMS:
        add_own(table, name)
    add_command(table)
    table.save()


if __name__ == "__main__":
    main()
