"""`kleene warm`: compile everything once, for images and CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from kleene.base import progress, tidy
from kleene.base.cache import folder_problem
from kleene.base.errors import SourceError
from kleene.cli.output import emit, emit_json, megabytes, rows
from kleene.cli.shared import AsJson

# Small inputs that use what programs use: fields, arrays, the heap, calls through pointers; loops.
_INPUTS = {
    "small.c": """\
#include <stdlib.h>
#include <string.h>
struct item { struct item *next; int (*run)(int *); int values[4]; };
static int first(int *p) { return p[0]; }
static int second(int *p) { return p[1]; }
static int (*const table[])(int *) = {first, second};
static struct item *items;
static void add(int (*run)(int *)) {
  struct item *made = malloc(sizeof *made);
  made->next = items, made->run = run;
  memset(made->values, 0, sizeof made->values);
  items = made;
}
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < argc; i++) add(table[i & 1]);
  for (struct item *at = items; at; at = at->next) sum += at->run(at->values + (argc & 1));
  return sum + argv[0][0];
}
""",
    "loops.c": """\
#include <stdlib.h>
static int table[100];
int place_of(int wanted) {
  int low = 0, high = 99;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (table[middle] == wanted) return middle;
    if (table[middle] < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
int *copied(const int *from, int first, unsigned n) {
  int *made = malloc(n * sizeof *made), x = 0, y = 0;
  if (!made || first < 0 || n > 50 || first > 50) return 0;
  for (unsigned i = 0, j = n; i < n && x + y < 60; i++, j--) {
    made[i] = from[first + i] + table[j], x += 2, y -= 1;
  }
  for (int i = 0; i < 10 && x - y > 3; x--) i += table[i] > 3 ? 1 : 2;
  for (int i = 0, j = 0; i < 1000000; i++, j++) if (i > j + 70000) return 0;  // 32 bits wide
  return made;
}
""",
    "small.scm": "(define (twice f x) (f (f x)))\n(display (twice (lambda (y) (* y 2)) 21))\n",
}
# What a process compiles; it reads its inputs by plain Python where others compile the reader.
_START = "import kleene\nfrom kleene.kernels.compiled import interpreted\n"
_TASKS = {
    "points-to": """\
from kleene.solvers.inclusion import solve
from kleene.solvers.inclusion.generate import points_to_like, van_horn_mairson
with interpreted():
    program = kleene.load("small.c", cache=False)
with interpreted(False):
    for library in (False, True):
        result = program.points_to(library=library, device="cpu")
        result.to_json(), result.checks(), result.call_graph()
    for problem in (points_to_like(53_362, 55_977, 1), van_horn_mairson(7168)):  # arrays grow
        solve(problem, device="cpu")
    program.invariants(whole_program=True)
""",
    "the reader of C": """\
with interpreted(False):
    kleene.load("small.c", cache=False)
""",
    "control flow of Scheme": """\
with interpreted(False):
    kleene.load("small.scm").cfa(device="cpu")
""",
    "the expander of Scheme": """\
with interpreted(False):
    kleene.scheme.parse("(define (twice f x) (f (f x)))\\n" * 1000)
""",
    "dataflow": """\
from kleene.solvers.dataflow import BitConstraints, ConstraintBuilder, Operator, solve, solve_bits
from kleene.solvers.dataflow.shares import parts_of
build = ConstraintBuilder()
one, *two = build.names(3)
build.define([one], Operator.CONSTANT, width=32, attribute=1)
build.define(two, Operator.FREEZE, [one, one], width=32)
with interpreted(False):
    constraints = build.constraints()
    solve(constraints), parts_of(constraints.schedule, 2)
    solve_bits(BitConstraints([1], [0], [0, 0], []))
""",
    "memory SSA": """\
from kleene.transforms.memory_ssa import MemoryAccesses, MemoryRole, memory_ssa
from kleene.transforms.splitting import ControlFlow
with interpreted(False):
    memory_ssa(ControlFlow.of([1], []), MemoryAccesses.of([(0, 0, MemoryRole.READ)], [[0]], 1))
""",
    "invariants": """\
from kleene import Octagon, graphs
with interpreted():
    program = kleene.load("loops.c", cache=False)
with interpreted(False):
    graph = graphs.Graph.from_edges(4, [0, 1, 2, 1], [1, 2, 1, 3])
    graphs.strong_components(graph), graphs.depth_first(graph, 0)
    graphs.loop_forest(graph, 0), graphs.weak_topological_order(graph, 0)
    graphs.dominators(graph, 0)
    program.invariants()
    a = Octagon.of_constraints("0 <= x <= 5, y - x <= 2")
    b = a.assign("x", "y + 1").meet("x + y <= 9")
    a.join(b).widen(a.assign("y", "2x + 1")), a.join(b) <= a, a.forget("x"), a == b
""",
}


def run(*, as_json: AsJson = False) -> None:
    """Compile every loop that commands use, so that no later run waits for it.

    Example: kleene warm

    Small programs are answered without; a large one would compile what it needs when it is first
    analysed, which takes about a minute. Machine code is kept with the package where that can be
    written, for every user of an image, else in the cache.
    """
    from kleene.kernels import stamps

    if problem := folder_problem(stamps.folder_of_package()):
        note = "set KLEENE_CACHE_DIR to a folder that can be written"
        raise SourceError(None, "warm/failed", f"machine code cannot be kept: {problem}", note)
    with tidy.scratch() as scratch:
        for file, text in _INPUTS.items():
            (scratch / file).write_text(text)
        with progress.task("compiling", len(_TASKS)) as advance:
            for fault in _finished(scratch):
                advance(1)
                if fault:
                    raise SourceError(None, "warm/failed", fault.strip().splitlines()[-1], fault)
    folder = stamps.folder_of_package()
    sizes = [file.stat().st_size for file in folder.iterdir()]
    facts = {"folder": str(folder), "files": len(sizes), "bytes": sum(sizes)}
    if as_json:
        emit_json(facts)
    else:
        emit([rows([("folder", folder), ("files", f"{len(sizes)} ({megabytes(sum(sizes))})")])])


def _finished(folder: Path) -> Iterator[str]:
    """Yield, as each process ends, what it said if it failed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(_compiled, task, folder) for task in _TASKS.values()]
        for one in as_completed(waiting):
            yield one.result()


def _compiled(task: str, folder: Path) -> str:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", _START + task]
    done = tidy.run(command, cwd=str(folder), env=environment)
    return done.stderr.decode(errors="replace") if done.returncode else ""
