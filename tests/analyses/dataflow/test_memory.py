"""Names of memory beside programs that run: who wrote what a load reads?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.dataflow.context import Context
from kleene.analyses.points_to import PointsToResult
from kleene.ir import Program, parse
from kleene.transforms.memory_ssa import MemorySSA
from tests.analyses.dataflow.running import Machine, StoppedError
from tests.transforms.memory_ssa.test_names import ENTRY, definitions_of

PROGRAMS = {
    "lists": """
#include <stdlib.h>
struct node { int key; struct node *next; };
static struct node *head; static int n_nodes, last[4];
static void push(int key) {
  struct node *made = malloc(sizeof *made);
  made->key = key; made->next = head; head = made; n_nodes++; last[key & 3] = key;
}
static int sum(struct node *at) { return at ? at->key + sum(at->next) : 0; }
static void reverse(void) {
  struct node *done = 0;
  while (head) { struct node *next = head->next; head->next = done; done = head; head = next; }
  head = done;
}
static int both(int n) {
  struct node *made[2];
  for (int i = 0; i < 2; i++) made[i] = malloc(sizeof **made);
  made[0]->key = n;
  made[n & 1]->key = 6;
  made[1]->key = 7;
  return made[0]->key;
}
static int inner(int *outer, int n) {
  int mine = n;
  if (outer) *outer = 7;
  if (n) inner(&mine, n - 1);
  int *const at = &mine;
  if (outer) *outer = 8;
  return *at;
}
int main(int argc, char **argv) {
  both(2), both(1), inner(0, 3);
  for (int i = 0; i < 6; i++) push(i * argc);
  reverse();
  int total = sum(head);
  n_nodes = 0;
  for (struct node *at = head; at; at = at->next) { n_nodes++; at->key = n_nodes; }
  return total + sum(head) + n_nodes + last[2];
}
""",
    "pointers": """
struct box { int *at; int kept; };
static int a = 3, b, table[5] = {1, 2, 3, 4, 5};
static struct box boxes[2] = {{&a, 1}, {&b, 2}};
static void set(int *p, int v) { *p = v; }
static void swap(struct box *x, struct box *y) { struct box t = *x; *x = *y; *y = t; }
static int deep(int *outer, int n) {
  int mine = n;
  int *q = n & 1 ? outer : &mine;
  *q += 1;
  if (n) deep(&mine, n - 1);
  return mine + *outer;
}
int main(int argc, char **argv) {
  int x = 1, y = 2, *p = &x;
  for (int i = 0; i < 5; i++) {
    set(p, i); p = i & 1 ? &x : &y; *p += table[i]; table[i] = *p;
    a = i; *boxes[i & 1].at += 1; b = a; swap(&boxes[0], &boxes[1]);
  }
  return x + y + a + b + boxes[0].kept + deep(&x, 4);
}
""",
    "calls": """
static int state, log_[8], n;
static int on(int v) { state = v; return state; }
static int off(int v) { log_[n++ & 7] = state; state = 0; return v; }
static int (*table[2])(int) = {on, off};
static int (*current)(int) = on;
struct config { int depth; int (*run)(int); } config = {2, off};
static int step(struct config *c, int v) {
  current = table[v & 1];
  int before = state;
  int found = current(v);
  if (state != before && c->depth-- > 0) found += step(c, v + 1);
  c->run = current;
  return found + c->run(v);
}
int main(int argc, char **argv) {
  int r = 0;
  for (int v = 1; v < 6; v++) { state = v; r += step(&config, v); r += state; }
  return r + n + log_[0];
}
""",
}


def loaded(folder: Path, name: str, level: str) -> Program:
    path = folder / f"{name}.c"
    path.write_text(PROGRAMS[name])
    return kleene.load(path, flags=[level])


class Watcher:
    """Checks that each load reads what one of the definitions of its names wrote."""

    def __init__(self, machine: Machine, found: MemorySSA) -> None:
        self.machine, self.found, self.n_checked = machine, found, 0
        self.partial = set(found.partial.tolist())
        self.known: dict[int, frozenset[int]] = {}

    def definitions(self, row: int) -> frozenset[int]:
        if row not in self.known:
            names = self.found.read_by(row).tolist()
            parts = [definitions_of(self.found, name) for name in names]
            self.known[row] = frozenset().union(*parts)
        return self.known[row]

    def __call__(self, row: int, address: int, n_bytes: int, _value: int) -> None:
        if row in self.partial:
            return
        here = self.machine.stack[-1].number
        for byte in range(address, address + n_bytes):
            stack = self.machine.writers.get(byte, ())
            within = [instruction for number, instruction in stack if number == here]
            assert (within[0] if within else ENTRY) in self.definitions(row), (row, within)
            self.n_checked += 1


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_loads_read_what_their_names_lead_to(tmp_path: Path, name: str, level: str) -> None:
    program = loaded(tmp_path, name, level)
    result: PointsToResult = program.points_to(device="cpu")
    for only_overwritten in (False, True):
        found = result.memory_ssa(only_overwritten=only_overwritten)
        machine = Machine(program)
        watcher = Watcher(machine, found)
        machine.on_load = watcher
        main = next(f for f in program.functions if f.name == "main")
        machine.call(main.row, [3, 0])
        assert watcher.n_checked > (40 if not only_overwritten else 0)
    with pytest.raises(StoppedError, match="too long"):
        Machine(program, n_steps=3).call(main.row, [3, 0])
    assert np.array_equal(found.partial, np.unique(found.partial))


def test_what_many_calls_write_to_many_variables_is_one_name() -> None:
    n = 60
    lines = [f"  %v{i}: ptr = alloca i32" for i in range(n)]
    picked = "%v0"
    for i in range(1, n):
        lines += [f"  store i32 {i}, %v{i}", f"  %p{i}: ptr = select %c, {picked}, %v{i}"]
        picked = f"%p{i}"
    lines += [f"  call @outside({picked})"] * n
    text = "\n".join(
        ["declare @outside(%p: ptr) -> void", "define @main(%c: i1) -> i32 {", "^entry:", *lines]
    )
    program = parse(text + "\n  ret i32 0\n}\n")
    graph = Context(program).data
    assert graph.n_names < 40 * n
    assert len(graph.source) < 40 * n  # and not n calls times n variables
