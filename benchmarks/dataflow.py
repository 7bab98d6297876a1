"""How many branches of a whole program are decided, and how long does that take, beside LLVM?

Ours are e-SSA and ranges of all values through calls and memory, over load and points-to. The rival
is LLVM 22 (llvmlite) with every symbol internal but `main` (of sqlite3 `sqlite3_*`): ipsccp, then
sccp; reading is not counted. Times are CPU seconds of one core. A branch is decided if its block is
reached and always goes one way. "all of LLVM's" counts those that LLVM decides, or finds in dead
code, and ours does too.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
from harness import Measurement, Table

import kleene
from kleene.analyses.dataflow.clients.ranges import decided
from kleene.analyses.dataflow.context import Context
from kleene.ir.program import Program

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("lua", "nginx", "sqlite3")
REPEATS = 5
_FUNCTION = re.compile(r'@("[^"]+"|[\w.$-]+)\(')
_LABEL = re.compile(r'([\w.$-]+|"[^"]+"):')
Key = tuple[str, int]  # a function, and which of its blocks


def branches(module: llvm.ModuleRef) -> tuple[dict[tuple[str, str], Key], set[tuple[str, str]]]:
    """Return the blocks that end in a branch with a condition, by name and place; and all blocks.

    They are read from LLVM's text: asking for values one by one takes minutes.
    """
    found: dict[tuple[str, str], Key] = {}
    blocks: set[tuple[str, str]] = set()
    function, block, place = "", "", -1
    for line in str(module).splitlines():
        if line.startswith("define "):
            function, place = _FUNCTION.search(line)[1].strip('"'), -1  # type: ignore[index]
        elif (label := _LABEL.match(line)) and function:
            block, place = label[1], place + 1
            blocks.add((function, block))
        elif line.startswith("  br i1 %"):
            found[function, block] = (function, place)
        elif line.startswith("}"):
            function = ""
    return found, blocks


def of_llvm(path: Path, keep: str) -> tuple[Measurement, set[Key], set[Key]]:
    """Return how long LLVM takes, the branches it decides, and those in blocks it deletes."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    module = llvm.parse_bitcode(path.read_bytes())
    for one in [*module.functions, *module.global_variables]:
        if not one.is_declaration and not one.name.startswith(keep) and "llvm." not in one.name:
            one.linkage = llvm.Linkage.internal
    names = llvm.create_new_module_pass_manager()
    names.add_instruction_namer_pass()
    names.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    before, _ = branches(module)
    code = module.as_bitcode()
    times = []
    for _ in range(REPEATS):
        module = llvm.parse_bitcode(code)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        passes = llvm.create_new_module_pass_manager()
        passes.add_ipsccp_pass()
        passes.add_sccp_pass()
        start = time.process_time()
        passes.run(module, builder)
        times.append(time.process_time() - start)
    after, blocks = branches(module)
    gone = {key for name, key in before.items() if name not in after and name in blocks}
    dead = {key for name, key in before.items() if name not in blocks}
    times.sort()
    return Measurement(times[-1], times[len(times) // 2], times[0], times[-1]), gone, dead


def of_kleene(context: Context) -> tuple[set[Key], set[Key]]:
    """Return the branches that ours decides, and those in blocks that are never reached."""
    program = context.program
    first = program.function_table.block_offsets

    def keys(blocks: np.ndarray) -> set[Key]:
        function = program.blocks.function[blocks]
        symbols = program.globals.name[program.function_table.value[function]]
        return {
            (program.strings[int(s)], int(b - first[f]))
            for s, b, f in zip(symbols, blocks, function, strict=True)
        }

    dead = context.branches[~context.block_is_reached[context.branches]]
    return keys(decided(context)[0]), keys(dead)


def solved(program: Program, known: Context) -> Context:
    """Return the facts of a program whose points-to sets are known."""
    context = Context(program, library=known.library)
    context.__dict__["points_to"] = known.points_to
    for mine in ("_effects", "memory_accesses"):  # who touches what belongs to the time
        context.points_to.__dict__.pop(mine, None)
    context = context.forwarded
    assert context.facts is not None
    return context


def in_cpu_time(call: Callable[[], Context]) -> Measurement:
    """Return how long a call takes, the first one apart, and what the last one returned."""
    times = []
    for _ in range(1 + REPEATS):
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
    first_s, *rest = times
    rest.sort()
    return Measurement(first_s, rest[len(rest) // 2], rest[0], rest[-1], result)


def main() -> None:
    table = Table("dataflow", (__doc__ or "").splitlines()[0])
    for name in PROGRAMS:
        path = DATA / "bitcode" / f"{name}.bc"
        program = kleene.load(path)
        known = Context(program, library=name == "sqlite3")
        assert known.points_to is not None
        ours = in_cpu_time(partial(solved, program, known))
        mine, mine_dead = of_kleene(ours.result)
        theirs, gone, dead = of_llvm(path, "sqlite3_" if name == "sqlite3" else "main")
        missed = gone - mine - mine_dead
        table.row(
            input=name,
            size=f"{len(program.instructions):,} instructions",
            ours=ours,
            rival="LLVM 22: ipsccp, sccp",
            theirs=theirs,
            agree=True,
            **{
                "branches": f"{len(ours.result.branches):,}",
                "decided": f"{len(mine):,}",
                "in dead code": f"{len(mine_dead):,}",
                "decided by LLVM": f"{len(gone):,}",
                "LLVM's in dead code": f"{len(dead):,}",
                "all of LLVM's": f"{len(gone) - len(missed):,}",
            },
        )
        print(name, "missed:", sorted(missed)[:20], "dead missed", len(dead - mine_dead - mine))
    table.save()


if __name__ == "__main__":
    main()
