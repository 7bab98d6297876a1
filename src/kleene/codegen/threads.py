"""A plan as C for the threads of a host: proven loops on POSIX threads, the rest as it was.

The outermost loop of a nest that is an axis is divided among threads, and the loops inside stay in
their order. Before that, its operations are counted, by trips of loops with other variables in the
middle of their ranges: less work than waking threads is worth is done by the caller. Reductions
have a number of parts that hangs on their iterations alone, so that results are the same on any
machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kleene.codegen.arguments import Passed, arguments, axis_names, neutral_text
from kleene.codegen.bins import is_of_one_thread
from kleene.codegen.host import HostWriter
from kleene.codegen.plan import (
    Atomic,
    Axis,
    CannotError,
    HostNest,
    Kernel,
    Located,
    Plan,
    Reduction,
    Scan,
    Snapshot,
)
from kleene.codegen.text import Printer, assigned_in, safe, size_text, symbols_in, type_name
from kleene.codegen.trees import counted, number, substituted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Symbol

_PARTS = 256  # of a reduction, at most
_PART = 1024  # iterations of a reduction for each part
_CALL = 20  # operations that a call of the library counts as
_UNKNOWN_TRIPS = 16  # of a loop whose bounds are in arrays
_COMBINED = {
    "min": "{1} < {0} ? {1} : {0}",
    "max": "{0} < {1} ? {1} : {0}",
}

POOL = """#define _POSIX_C_SOURCE 200809L  // and no more names, which the program may have, too
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/sysinfo.h>

// A pool of threads: each takes the next few iterations until none are left. Threads without work
// look for it for a while, and then sleep.
typedef void kleene_work(void *, long long, long long);
// Least: operations, some 50 microseconds. On 16 cores threads that still look for work are faster
// than the caller alone from some 150,000 operations on, threads that sleep from some 500,000 on.
enum { KLEENE_SPINS = 4000, KLEENE_LEAST = 400000 };
static pthread_mutex_t kleene_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t kleene_begin = PTHREAD_COND_INITIALIZER;
static struct {
  kleene_work *work;
  void *args;
  long long count, next, chunk;
  int n_threads, n_running, n_asleep, round;
} kleene_pool;

static void kleene_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void kleene_take(void) {
  const long long count = kleene_pool.count, chunk = kleene_pool.chunk;
  for (;;) {
    const long long first = __atomic_fetch_add(&kleene_pool.next, chunk, __ATOMIC_RELAXED);
    if (first >= count) break;
    kleene_pool.work(kleene_pool.args, first, first + chunk < count ? first + chunk : count);
  }
}

// A caller changes `round` and then looks whether anyone sleeps; a thread says that it sleeps and
// then looks at `round` again: one of the two sees the other.
static void *kleene_thread(void *unused) {
  for (int seen = 0;; seen++) {
    for (int i = 0; __atomic_load_n(&kleene_pool.round, __ATOMIC_ACQUIRE) == seen; i++) {
      if (i < KLEENE_SPINS) {
        kleene_pause();
        continue;
      }
      pthread_mutex_lock(&kleene_lock);
      __atomic_fetch_add(&kleene_pool.n_asleep, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&kleene_pool.round, __ATOMIC_SEQ_CST) == seen)
        pthread_cond_wait(&kleene_begin, &kleene_lock);
      __atomic_fetch_sub(&kleene_pool.n_asleep, 1, __ATOMIC_SEQ_CST);
      pthread_mutex_unlock(&kleene_lock);
    }
    kleene_take();
    __atomic_fetch_sub(&kleene_pool.n_running, 1, __ATOMIC_RELEASE);
  }
  return unused;
}

// A process that forks has no threads but its own: in the child the caller does all.
static void kleene_forked(void) { kleene_pool.n_threads = 1; }

static void kleene_start(void) {
  const char *wanted = getenv("KLEENE_THREADS");
  long n = wanted ? atol(wanted) : get_nprocs();
  for (kleene_pool.n_threads = 1; kleene_pool.n_threads < n; kleene_pool.n_threads++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, kleene_thread, 0)) break;
    pthread_detach(thread);
  }
  pthread_atfork(0, 0, kleene_forked);
}

static double kleene_trips(double low, double high, double step) {
  return high > low ? (high - low) / step : 0;
}

static void kleene_parallel(kleene_work *work, void *args, long long count, double n_operations) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static pthread_mutex_t callers = PTHREAD_MUTEX_INITIALIZER;
  if (count <= 0) return;
  if (count == 1 || n_operations < KLEENE_LEAST) {
    work(args, 0, count);
    return;
  }
  pthread_once(&once, kleene_start);
  if (kleene_pool.n_threads == 1) {
    work(args, 0, count);
    return;
  }
  pthread_mutex_lock(&callers);
  kleene_pool.work = work;
  kleene_pool.args = args;
  kleene_pool.count = count;
  kleene_pool.chunk = count / (8 * kleene_pool.n_threads) + 1;
  kleene_pool.next = 0;
  kleene_pool.n_running = kleene_pool.n_threads - 1;
  __atomic_fetch_add(&kleene_pool.round, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&kleene_pool.n_asleep, __ATOMIC_SEQ_CST)) {
    pthread_mutex_lock(&kleene_lock);
    pthread_cond_broadcast(&kleene_begin);
    pthread_mutex_unlock(&kleene_lock);
  }
  kleene_take();
  for (int i = 0; __atomic_load_n(&kleene_pool.n_running, __ATOMIC_ACQUIRE); i++) {
    if (i < KLEENE_SPINS) kleene_pause();
    else sched_yield();
  }
  pthread_mutex_unlock(&callers);
}
"""
_ATOMICS = """
#define kleene_update(p, e)                                                                  \\
  do {                                                                                       \\
    __typeof__(*(p)) old_ = *(p), new_;                                                      \\
    do new_ = (e);                                                                           \\
    while (!__atomic_compare_exchange(p, &old_, &new_, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \\
  } while (0)
#define atomicAdd(p, v) kleene_update(p, old_ + (v))
#define atomicAnd(p, v) kleene_update(p, old_ & (v))
#define atomicOr(p, v) kleene_update(p, old_ | (v))
#define atomicXor(p, v) kleene_update(p, old_ ^ (v))
#define atomicMin(p, v) kleene_update(p, (v) < old_ ? (v) : old_)
#define atomicMax(p, v) kleene_update(p, old_ < (v) ? (v) : old_)
"""


def source(plans: Sequence[Plan]) -> str:
    """Return functions as a C file, each under its own name.

    `gemm` calls `gemm_sequential`, the function as it was written, if arrays overlap, or if their
    bounds are not known; else `gemm_parallel`.
    """
    pieces = []
    for plan in plans:
        writer = _Threads(plan)
        for one in plan.kernels():
            pieces += [*writer.definition(one), ""]
        for nest in (*plan.host_nests(), *(one.nest for one in plan.scans())):
            pieces += [*writer.nest_definition(nest), ""]
        pieces += [*writer.sequential(), ""]
        if plan.steps:
            pieces += [f"{writer.head('_parallel')} {{", *writer.body(), "}", ""]
        pieces += [f"{writer.head()} {{", *writer.choice(), "}", ""]
    text = "\n".join(pieces)
    head = ["// Generated: proven loops on threads.", POOL]
    return "\n".join([*head, *([_ATOMICS] if "atomic" in text else []), text])


class _Plain(Printer):
    """Updates of one thread, which nobody else sees half of."""

    def _atomic(self, node: Atomic) -> str:
        target, value = self.location(node.target), self.expression(node.value)
        if node.operator not in ("min", "max"):
            return f"{target} {node.operator}= {value}"
        sign = "<" if node.operator == "min" else ">"
        return f"if (({value}) {sign} {target}) {target} = {value}"


class _Threads(HostWriter):
    """Kernels as functions of a range of iterations."""

    def choice(self) -> Iterator[str]:
        """Yield the choice between the function as it was written and on threads."""
        plan = self.plan
        returned = "return " if plan.returned is not None else ""
        given = f"({', '.join(safe(one.name) for one in plan.parameters)});"
        try:
            test = self.overlap_test() if plan.steps else "true"
        except CannotError as error:
            yield f"  // In order: {error}"
            test = "true"
        if test == "true":
            yield f"  {returned}{plan.function}_sequential{given}"
            return
        if test:
            yield f"  if ({test}) {{"
            yield f"    {returned}{plan.function}_sequential{given}"
            yield from [] if returned else ["    return;"]
            yield "  }"
        yield f"  {returned}{plan.function}_parallel{given}"

    def body(self) -> Iterator[str]:
        """Yield the lines of the function on threads."""
        plan = self.plan
        yield from self.declarations()
        for symbol in plan.device_scalars:
            if symbol not in plan.parameters:
                yield f"  {type_name(symbol.type)} {self.names[symbol]} = 0;"
        for name, array in plan.arrays.items():
            if array.extent is not None:
                yield f"  {self._allocated(safe(name), name, self._size(name))}"
        for copy, name in plan.snapshots.items():
            yield f"  {self._allocated(copy, name, self._size(name))}"
        yield from self.steps(plan.steps, 1)
        for name in [
            *(safe(n) for n, a in plan.arrays.items() if a.extent is not None),
            *plan.snapshots,
        ]:
            yield f"  free({name});"
        if plan.returned is not None:
            yield f"  return {self.printer.expression(plan.returned)};"

    def _allocated(self, name: str, like: str, size: str) -> str:
        kind = type_name(self.plan.arrays[like].element)
        return f"{kind} *{name} = ({kind} *)malloc({size} + 1);"

    def _size(self, name: str) -> str:
        """Return the bytes of an array: of a parameter, up to the last one that is used."""
        array = self.plan.arrays[name]
        if array.extent is not None:
            n = array.extent
            count = str(n) if isinstance(n, int) else f"({self.printer.expression(n)})"
            return f"(size_t){count} * sizeof({type_name(array.element)})"
        most = "0"
        for one in self.used(name, is_exact=True):
            end = size_text(one.end)
            tests = [f"{end} > {most}", *(f"{size_text(trips)} > 0" for trips in one.trips)]
            test = " && ".join(tests)
            most = f"({test} ? {end} : {most})"
        return f"(size_t){most}"

    def copy(self, step: Snapshot, depth: int) -> Iterator[str]:
        """Yield the copy of an array."""
        size = self._size(step.array.name)
        yield f"{'  ' * depth}memcpy({step.copy.name}, {safe(step.array.name)}, {size});"

    # Sequential loops

    def nest_definition(self, step: HostNest) -> Iterator[str]:
        """Yield a sequential loop as a function; what is called from elsewhere finds it, too."""
        passed = arguments(self.plan, step)
        yield f"void {step.name}({', '.join(self._fields(step, passed))}) {{"
        printer = Printer(frozenset(one.symbol for one in passed if one.kind == "device"))
        for one in step.private:
            yield f"  {printer.declaration(one)};"
        yield from printer.block(step.body, 1)
        yield "}"

    def nest(self, step: HostNest, depth: int) -> Iterator[str]:
        """Yield the call of a sequential loop."""
        given = self._given(arguments(self.plan, step), [])
        yield f"{'  ' * depth}{step.name}({given});"

    def scan(self, step: Scan, depth: int) -> Iterator[str]:
        """Yield the call of a scan's loop as it is written."""
        yield from self.nest(step.nest, depth)

    # Kernels

    def definition(self, kernel: Kernel | Reduction) -> Iterator[str]:
        """Yield the arguments of a kernel as a structure, and its function."""
        passed = arguments(self.plan, kernel)
        own = f"{kernel.name}_args"
        fields = " ".join(f"{one};" for one in self._fields(kernel, passed))
        yield f"typedef struct {{ {fields} }} {own};"
        yield f"static void {kernel.name}(void *given_, long long first_, long long last_) {{"
        yield f"  const {own} *args_ = ({own} *)given_;"
        for one in passed:
            yield f"  {self._type(one)}{safe(one.symbol.name)} = args_->{safe(one.symbol.name)};"
        pointed = frozenset(one.symbol for one in passed if one.kind == "device")
        if isinstance(kernel, Kernel):
            yield from self._kernel(kernel, pointed)
        else:
            yield from self._reduction(kernel, pointed)
        yield "}"

    def _type(self, one: Passed) -> str:
        name = one.symbol.name
        if one.kind == "array":
            array = self.plan.arrays[self.plan.snapshots.get(name, name)]
            const = "" if one.is_written else "const "
            return f"{const}{type_name(array.element)} *restrict "
        star = "*" if one.kind == "device" else ""
        return f"{type_name(one.symbol.type)} {star}"

    def _fields(self, kernel: Kernel | Reduction | HostNest, passed: list[Passed]) -> list[str]:
        fields = [f"{self._type(one)}{safe(one.symbol.name)}" for one in passed]
        if isinstance(kernel, Reduction):
            fields += ["long long parts_", f"{type_name(kernel.target.type)} *partial_"]
            fields += [] if kernel.located is None else ["long long *partial_at_"]
        return fields or ["int unused"]

    def _kernel(self, kernel: Kernel, pointed: frozenset[tree.Symbol]) -> Iterator[str]:
        is_whole = kernel.nest is not None
        printing = _Plain if is_of_one_thread(kernel) else Printer
        printer = printing(pointed, {} if is_whole else axis_names(kernel.axes, kernel.body))
        private = set(kernel.private)
        if kernel.nest is not None:
            declared = [
                one.symbol for one in tree.walk(kernel.nest) if isinstance(one, tree.Declare)
            ]
            private |= assigned_in(kernel.nest.body) - {*declared, kernel.axes[0].variable}
        for one in sorted(private, key=lambda one: one.name):
            yield f"  {printer.declaration(one)};"
        if not kernel.axes:
            yield from printer.block(kernel.body, 1)
            return
        axis = kernel.axes[0]
        yield "  for (long long number_ = first_; number_ < last_; number_++) {"
        yield f"    {self._index(printer, axis)}"
        if kernel.nest is not None:
            yield from printer.block(kernel.nest.body, 2)
            yield "  }"
            return
        depth = 2
        for inner in kernel.axes[1:]:
            name = printer.name(inner.variable)
            low, high = printer.expression(inner.low), printer.expression(inner.high)
            kind = type_name(inner.variable.type)
            head = f"{kind} {name} = {low}; {name} < ({high}); {name} += {inner.step}"
            yield f"{'  ' * depth}for ({head}) {{"
            depth += 1
        yield from printer.block(kernel.body, depth)
        for level in range(depth - 1, 0, -1):
            yield f"{'  ' * level}}}"

    def _index(self, printer: Printer, axis: Axis) -> str:
        kind = type_name(axis.variable.type)
        by = "number_" if axis.step == 1 else f"{axis.step} * number_"
        low = printer.expression(axis.low)
        return f"const {kind} {printer.name(axis.variable)} = ({kind})(({low}) + {by});"

    def _reduction(self, kernel: Reduction, pointed: frozenset[tree.Symbol]) -> Iterator[str]:
        printer = Printer(pointed)
        axis, own, located = kernel.axes[0], kernel.accumulator.name, kernel.located
        for one in _own_variables(kernel):
            yield f"  {printer.declaration(one)};"
        neutral = neutral_text(kernel.operator, kernel.target.type)
        count = self._count(printer, axis)
        yield "  for (long long part_ = first_; part_ < last_; part_++) {"
        yield f"    const long long count_ = {count};"
        yield f"    {type_name(kernel.target.type)} {own} = {neutral};"
        if located is not None:
            yield f"    long long {located.at.name} = -1;"
        ends = [f"count_ * {which} / args_->parts_" for which in ("part_", "(part_ + 1)")]
        yield f"    for (long long number_ = {ends[0]}; number_ < {ends[1]}; number_++) {{"
        if located is not None:
            yield f"      const long long {located.point.name} = number_;"
        yield f"      {self._index(printer, axis)}"
        yield from printer.block(kernel.nest, 3)
        yield "    }"
        yield f"    args_->partial_[part_] = {own};"
        if located is not None:
            yield f"    args_->partial_at_[part_] = {located.at.name};"
        yield "  }"

    def _count(self, printer: Printer, axis: Axis) -> str:
        low, high = printer.expression(axis.low), printer.expression(axis.high)
        count = f"(long long)({high})" if low == "0" else f"(long long)({high}) - ({low})"
        return count if axis.step == 1 else f"({count} + {axis.step - 1}) / {axis.step}"

    # Launches

    def _given(self, passed: list[Passed], more: list[str]) -> str:
        texts = []
        for one in passed:
            name = self.names.get(one.symbol, safe(one.symbol.name))
            texts.append(f"&{name}" if one.kind == "device" else name)
        return ", ".join([*texts, *more]) or "0"

    def launch(self, kernel: Kernel, depth: int) -> Iterator[str]:
        """Yield the call that divides a kernel's first axis among threads."""
        pad = "  " * depth
        given = self._given(arguments(self.plan, kernel), [])
        count = self._count(self.printer, kernel.axes[0]) if kernel.axes else "1"
        yield f"{pad}{{"
        yield f"{pad}  {kernel.name}_args args_ = {{{given}}};"
        each = self._operations(kernel.body, _middles(kernel.axes))
        trips = [self._trips(one.low, one.high, one.step) for one in kernel.axes]
        work = " * ".join([*trips, each])
        if is_of_one_thread(kernel):
            yield f"{pad}  {kernel.name}(&args_, 0, {count});"
        else:
            yield f"{pad}  kleene_parallel({kernel.name}, &args_, {count}, {work});"
        yield f"{pad}}}"

    def _trips(self, low: Expression, high: Expression, step: int) -> str:
        """Return how many iterations a loop has."""
        ends = f"{self.printer.expression(low)}, {self.printer.expression(high)}"
        return f"kleene_trips({ends}, {step})"

    def _operations(self, block: Block, middles: dict[Symbol, Expression]) -> str:
        """Return about how many operations statements have, with variables at some values."""
        total, parts = 0, []
        for one in block:
            match one:
                case tree.Loop(body=body):
                    trips, inner, form = str(_UNKNOWN_TRIPS), middles, counted(one)
                    if form is not None:
                        low, high = (substituted(e, middles) for e in (form.low, form.high))
                        if self._is_known((low, high)):
                            trips = self._trips(low, high, form.step)
                            inner = middles | {form.variable: _middle(low, high)}
                    parts.append(f"{trips} * {self._operations(body, inner)}")
                case tree.If(condition=condition, then=then, otherwise=otherwise):
                    total += _n_operations(condition)
                    parts.append(self._operations((*then, *otherwise), middles))
                case _:
                    total += _n_operations(one)
        text = " + ".join([str(total), *parts])
        return f"({text})" if parts else text

    def _is_known(self, values: object) -> bool:
        """Return whether the host knows some values: they are of its variables."""
        is_data = any(isinstance(one, Element) for one in tree.walk(values))
        return not is_data and symbols_in(values) <= set(self.names)

    def reduce(self, kernel: Reduction, depth: int) -> Iterator[str]:
        """Yield the call that computes the parts of a reduction, and their combination."""
        pad, located = "  " * depth, kernel.located
        kind = type_name(kernel.target.type)
        more = ["parts_", "partial_", *([] if located is None else ["partial_at_"])]
        given = self._given(arguments(self.plan, kernel), more)
        count = self._count(self.printer, kernel.axes[0])
        each = self._operations(kernel.nest, _middles(kernel.axes[:1]))
        yield f"{pad}{{"
        yield f"{pad}  {kind} partial_[{_PARTS}];"
        if located is not None:
            yield f"{pad}  long long partial_at_[{_PARTS}];"
        yield f"{pad}  const long long count_ = {count};"
        part = _PART if len(kernel.axes) == 1 else 1
        most = f"count_ / {part} < {_PARTS - 1} ? count_ / {part} + 1 : {_PARTS}"
        yield f"{pad}  const long long parts_ = {most};"
        yield f"{pad}  {kernel.name}_args args_ = {{{given}}};"
        yield f"{pad}  kleene_parallel({kernel.name}, &args_, parts_, (double)count_ * {each});"
        yield from self.printer.block(kernel.before, depth + 1)
        if located is None:
            target = self.printer.location(kernel.target)
            form = _COMBINED.get(kernel.operator, f"{{0}} {kernel.operator} {{1}}")
            combined = form.format(target, "partial_[part_]")
            each = "long long part_ = 0; part_ < parts_; part_++"
            yield f"{pad}  for ({each}) {target} = {combined};"
        else:
            yield from self._located(kernel, located, depth + 1)
        yield from self.printer.block(kernel.after, depth + 1)
        yield f"{pad}}}"

    def _located(self, kernel: Reduction, located: Located, depth: int) -> Iterator[str]:
        """Yield what is done for the iteration with the extremum, which parts are searched for."""
        pad = "  " * depth
        sign = (">" if kernel.operator == "max" else "<") + ("" if located.is_first else "=")
        yield f"{pad}long long best_ = -1;"
        yield f"{pad}for (long long part_ = 0; part_ < parts_; part_++) {{"
        test = f"best_ < 0 || partial_[part_] {sign} partial_[best_]"
        yield f"{pad}  if (partial_at_[part_] >= 0 && ({test})) best_ = part_;"
        yield f"{pad}}}"
        yield f"{pad}if (best_ >= 0) {{"
        yield f"{pad}  const long long number_ = partial_at_[best_];"
        for one in _own_variables(kernel):
            yield f"{pad}  {self.printer.declaration(one)};"
        yield f"{pad}  {self._index(self.printer, kernel.axes[0])}"
        yield from self.printer.block(located.last_nest, depth + 1)
        yield f"{pad}}}"


def _own_variables(kernel: Reduction) -> list[Symbol]:
    """Return the variables of an iteration that are declared outside of it."""
    declared = {one.symbol for one in tree.walk(kernel.nest) if isinstance(one, tree.Declare)}
    own = assigned_in(kernel.nest) - declared - {kernel.accumulator, kernel.axes[0].variable}
    if kernel.located is not None:
        own -= {kernel.located.at}
    return sorted({*own, *kernel.private}, key=lambda one: one.name)


def _middle(low: Expression, high: Expression) -> Expression:
    """Return the value in the middle of a range."""
    total = tree.Binary(high.type, tree.NOWHERE, "+", low, high)
    return tree.Binary(high.type, tree.NOWHERE, "/", total, number(2, high.type))


def _middles(axes: Sequence[Axis]) -> dict[Symbol, Expression]:
    return {
        symbol: _middle(axis.low, axis.high)
        for axis in axes
        for symbol in (axis.variable, *axis.aliases)
    }


def _n_operations(node: object) -> int:
    """Return how many operations a statement has: accesses, arithmetic, and calls."""
    total = 1
    for one in tree.walk(node):
        total += isinstance(one, tree.Binary | Element)
        total += _CALL * isinstance(one, tree.Call)
    return total
