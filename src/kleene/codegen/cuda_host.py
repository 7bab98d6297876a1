"""A plan as one CUDA C++ file: kernels, and the function that moves arrays and launches them.

    nvcc -O3 -c gemm.cu

Only the sections that are used are copied to the device, only those that are written come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kleene.codegen import cuda, rows
from kleene.codegen.arguments import Passed, arguments
from kleene.codegen.bins import Bins, bins_of
from kleene.codegen.contractions import LEAST, THREADS, contraction_of, depth_of
from kleene.codegen.host import HostWriter
from kleene.codegen.plan import (
    Array,
    Axis,
    CannotError,
    HostIf,
    HostLoop,
    HostNest,
    Kernel,
    Plan,
    Reduction,
    Scan,
    Section,
    Snapshot,
    all_steps,
)
from kleene.codegen.resident import loops_of
from kleene.codegen.rows import sums_of
from kleene.codegen.runtime import (
    BINS_BYTES,
    MOST_RESIDENT,
    ONE_BLOCK,
    ONE_RESIDENT,
    ONE_SCAN,
    REDUCTION_THREADS,
    SCAN_TILES,
)
from kleene.codegen.text import Printer, safe, size_text, type_name
from kleene.ir.loops.tree import Element, Location

_BLOCKS = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}
_PARTIAL_BLOCKS = 1024
_HEAD = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define CHECKED(call)                                                           \\
  do {                                                                          \\
    const cudaError_t error = (call);                                           \\
    if (error != cudaSuccess) {                                                 \\
      fprintf(stderr, "%s: %s\\n", #call, cudaGetErrorString(error));            \\
      abort();                                                                  \\
    }                                                                           \\
  } while (0)

// Widen [first, end) so that it holds [low, high), if a loop has iterations.
static void widen(long long *first, long long *end, long long trips, long long low,
                  long long high) {
  if (trips <= 0 || low >= high) return;
  if (*first == *end || low < *first) *first = low;
  if (*first == *end || high > *end) *end = high;
}
static unsigned blocks(long long count, long long size) {
  return (unsigned)((count + size - 1) / size);
}
"""
_TOGETHER = """// Launch a loop whole: one block for few points, else blocks on all multiprocessors.
template <class F>
static void launch_together(F *kernel, long long points, unsigned *barrier, void **given) {
  int device, n;
  CHECKED(cudaGetDevice(&device));
  CHECKED(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device));
  CHECKED(cudaMemset(barrier, 0, sizeof(unsigned)));
  long long threads = points <= @ONE@ ? (points + 31) / 32 * 32 : 1024;
  if (threads > 1024) threads = 1024;
  long long blocks_ = points <= @ONE@ ? 1 : (points + threads - 1) / threads;
  if (blocks_ > n) blocks_ = n;
  CHECKED(cudaLaunchCooperativeKernel(kernel, dim3((unsigned)blocks_), dim3((unsigned)threads),
                                      given, 0, 0));
}
""".replace("@ONE@", str(ONE_RESIDENT))
_ELEMENT = """// Return an element of the device.
template <class T> static T element_(const T *at) {
  T value;
  CHECKED(cudaMemcpy(&value, at, sizeof(T), cudaMemcpyDeviceToHost));
  return value;
}
"""


def source(plans: Sequence[Plan]) -> str:
    """Return functions as one file."""
    steps = [one for plan in plans for one in all_steps(plan.steps)]
    is_fetched = any(isinstance(one, HostIf) and one.fetched is not None for one in steps)
    pieces = [_HEAD, *([_ELEMENT] if is_fetched else []), cuda.source(plans)]
    if any(loops_of(plan) for plan in plans):
        pieces.append(_TOGETHER)
    for plan in plans:
        writer = _Cuda(plan)
        test = writer.overlap_test()
        if test:
            pieces += [*writer.sequential(), ""]
        pieces += [f"{writer.head()} {{", *writer.body(test), "}", ""]
    return "\n".join(pieces)


def _written(array: Array, used: tuple[Section, ...]) -> tuple[Section, ...]:
    """Return what comes back: what is written, or all that went in if that is not known."""
    found = array.copy_out
    is_exact = found is not None and all(one.is_exact for one in found)
    return found if found is not None and is_exact else used


class _Fetching(Printer):
    """Expressions of the host in which elements are of arrays of the device."""

    def _location(self, location: Location) -> tuple[str, int]:
        text, precedence = super()._location(location)
        is_element = isinstance(location, Element)
        return (f"element_(&{text})" if is_element else text), precedence


class _Cuda(HostWriter):
    """Launches, and arrays of the device: `d_a` of an array `a`."""

    def body(self, test: str) -> Iterator[str]:
        """Yield the lines of the function."""
        plan = self.plan
        has_partial = any(isinstance(one, Reduction | Scan) for one in all_steps(plan.steps))
        if test:
            names = ", ".join(safe(one.name) for one in plan.parameters)
            returned = "return " if plan.returned is not None else ""
            yield f"  if ({test}) {{"
            yield f"    {returned}{plan.function}_sequential({names});"
            yield from [] if returned else ["    return;"]
            yield "  }"
        yield from self.declarations()
        for name, array in plan.arrays.items():
            kind = type_name(array.element)
            if array.extent is not None:
                size = array.extent
                text = str(size) if isinstance(size, int) else self.printer.expression(size)
                yield f"  {kind} *d_{name};"
                yield f"  CHECKED(cudaMalloc((void **)&d_{name}, ({text}) * sizeof({kind}) + 1));"
                continue
            yield from self._range(name, "in", self.used(name, is_exact=True))
            yield f"  {kind} *d_{name};"
            yield f"  CHECKED(cudaMalloc((void **)&d_{name}, {name}_in_end + 1));"
            yield f"  {self._copy(name, 'in', f'd_{name}', safe(name), 'HostToDevice')}"
        for copy, name in plan.snapshots.items():
            yield f"  {type_name(plan.arrays[name].element)} *d_{copy};"
            yield f"  CHECKED(cudaMalloc((void **)&d_{copy}, {name}_in_end + 1));"
        for symbol in plan.device_scalars:
            name, kind = self.names[symbol], type_name(symbol.type)
            if symbol not in plan.parameters:
                yield f"  {kind} {name} = 0;"
            yield f"  {kind} *d_{name};"
            yield f"  CHECKED(cudaMalloc((void **)&d_{name}, sizeof({kind})));"
            given = f"d_{name}, &{name}, sizeof({kind}), cudaMemcpyHostToDevice"
            yield f"  CHECKED(cudaMemcpy({given}));"
        if has_partial:
            yield "  void *partial_;"
            yield f"  CHECKED(cudaMalloc(&partial_, {_PARTIAL_BLOCKS + 1} * 16));"
            yield f"  long long *partial_at_ = (long long *)partial_ + {_PARTIAL_BLOCKS + 1};"
        has_loops = bool(loops_of(plan))
        if has_loops:
            yield "  unsigned *barrier_;"
            yield "  CHECKED(cudaMalloc((void **)&barrier_, sizeof(unsigned)));"
        yield from self.steps(plan.steps, 1)
        yield "  CHECKED(cudaGetLastError());"
        for name, array in plan.arrays.items():
            if array.extent is None and array.is_written:
                yield from self._range(name, "out", _written(array, self.used(name)))
                yield f"  {self._copy(name, 'out', safe(name), f'd_{name}', 'DeviceToHost')}"
        for symbol in plan.device_scalars:
            name, kind = self.names[symbol], type_name(symbol.type)
            given = f"&{name}, d_{name}, sizeof({kind}), cudaMemcpyDeviceToHost"
            yield f"  CHECKED(cudaMemcpy({given}));"
        on_device = [*plan.arrays, *plan.snapshots, *(self.names[s] for s in plan.device_scalars)]
        for name in on_device:
            yield f"  CHECKED(cudaFree(d_{name}));"
        if has_partial:
            yield "  CHECKED(cudaFree(partial_));"
        if has_loops:
            yield "  CHECKED(cudaFree(barrier_));"
        if plan.returned is not None:
            yield f"  return {self.printer.expression(plan.returned)};"

    def _range(self, name: str, way: str, sections: Sequence[Section]) -> Iterator[str]:
        yield f"  long long {name}_{way} = 0, {name}_{way}_end = 0;"
        for one in sections:
            trips = " && ".join(f"{size_text(trips)} > 0" for trips in one.trips) or "1"
            ends = f"{trips}, {size_text(one.first)}, {size_text(one.end)}"
            yield f"  widen(&{name}_{way}, &{name}_{way}_end, {ends});"

    def _copy(self, name: str, way: str, to: str, from_: str, direction: str) -> str:
        own = f"{name}_{way}"
        given = f"(char *){to} + {own}, (const char *){from_} + {own}, {own}_end - {own}"
        return f"CHECKED(cudaMemcpy({given}, cudaMemcpy{direction}));"

    def _given(self, passed: list[Passed]) -> list[str]:
        texts = []
        for one in passed:
            if one.kind == "array":
                texts.append(f"d_{one.symbol.name}")
                continue
            name = self.names.get(one.symbol, safe(one.symbol.name))
            texts.append(name if one.kind == "host" else f"d_{name}")
        return texts

    def _count(self, axis: Axis) -> str:
        low, high = self.printer.expression(axis.low), self.printer.expression(axis.high)
        count = f"(long long)({high})" if low == "0" else f"(long long)({high}) - ({low})"
        return count if axis.step == 1 else f"({count} + {axis.step - 1}) / {axis.step}"

    def test(self, step: HostIf, depth: int) -> Iterator[str]:
        """Yield a condition; an element of the device is copied to the host."""
        arrays = {array.symbol: f"d_{name}" for name, array in self.plan.arrays.items()}
        text = _Fetching(names={**self.names, **arrays}).expression(step.condition)
        yield f"{'  ' * depth}if ({text}) {{"

    def loop(self, step: HostLoop, depth: int) -> Iterator[str]:
        """Yield a loop: one launch if its largest step has few points, else launches of steps."""
        whole = [one for one in loops_of(self.plan) if one.loop is step]
        if not whole:
            yield from super().loop(step, depth)
            return
        pad, made = "  " * depth, whole[0]
        yield f"{pad}{{"
        yield f"{pad}  long long points_ = 1;"
        for one in made.points:
            text = self.printer.expression(one)
            yield f"{pad}  if ({text} > points_) points_ = {text};"
        yield f"{pad}  if (points_ <= {MOST_RESIDENT}) {{"
        given = [*self._given(list(made.passed)), "barrier_"]
        yield f"{pad}    void *given_[] = {{{', '.join(f'(void *)&{one}' for one in given)}}};"
        yield f"{pad}    launch_together({made.name}, points_, barrier_, given_);"
        yield f"{pad}  }} else {{"
        yield from super().loop(step, depth + 2)
        yield f"{pad}  }}"
        yield f"{pad}}}"

    def launch(self, kernel: Kernel, depth: int) -> Iterator[str]:
        """Yield the launch of a kernel, if its grid is not empty."""
        pad = "  " * depth
        given = ", ".join(self._given(arguments(self.plan, kernel)))
        if not kernel.axes:
            yield f"{pad}{kernel.name}<<<1, 1>>>({given});"
            return
        block = _BLOCKS[len(kernel.axes)]
        letters = "xyz"[: len(block)]
        yield f"{pad}{{"
        for letter, position in zip(letters, kernel.mapping, strict=True):
            yield f"{pad}  const long long {letter}_ = {self._count(kernel.axes[position])};"
        tests = " && ".join(f"{letter}_ > 0" for letter in letters)
        grid = ", ".join(
            f"blocks({letter}_, {size})" for letter, size in zip(letters, block, strict=True)
        )
        shape = ", ".join(map(str, block))
        sums = contraction_of(self.plan, kernel)
        if sums is not None:
            tall, wide = sums.tile
            deep = self.printer.expression(depth_of(sums))
            yield f"{pad}  if (x_ >= {LEAST} && y_ >= {LEAST} && ({deep}) >= {LEAST})"
            tiles = f"blocks(x_, {wide}), blocks(y_, {tall})"
            yield f"{pad}    {kernel.name}_tiled<<<dim3({tiles}), {THREADS}>>>({given});"
            tests = f"else if ({tests})"
        along = sums_of(self.plan, kernel)
        if along is not None:
            deep = self.printer.expression(along.depth)
            yield f"{pad}  if (x_ > 0 && ({deep}) >= {rows.LEAST})"
            shape = "blocks(x_, 8), 256" if along.way == "rows" else "blocks(x_, 32), 1024"
            yield f"{pad}    {kernel.name}_{along.way}<<<{shape}>>>({given});"
            tests = f"else if ({tests})"
        updated = bins_of(self.plan, kernel)
        if updated is not None:
            yield from self._bins(kernel, updated, letters, given, depth + 1)
            tests = f"else if ({tests})"
        yield f"{pad}  {tests if tests.startswith('else') else f'if ({tests})'}"
        yield f"{pad}    {kernel.name}<<<dim3({grid}), dim3({shape})>>>({given});"
        yield f"{pad}}}"

    def _bins(
        self, kernel: Kernel, bins: Bins, letters: str, given: str, depth: int
    ) -> Iterator[str]:
        """Yield the launch with bins of blocks, if the array is small and there are many points."""
        pad, size = "  " * depth, bins.element.bits // 8
        array = self.plan.arrays[bins.array.name]
        last = array.extent if array.extent is not None else None
        if last is None:
            self.used(bins.array.name, is_exact=True)
            count = f"{bins.array.name}_in_end / {size}"
        else:
            count = str(last) if isinstance(last, int) else self.printer.expression(last)
        yield f"{pad}const long long n_bins_ = {count};"
        points = " * ".join(f"({letter}_ > 0 ? {letter}_ : 0)" for letter in letters)
        yield f"{pad}const long long points_ = {points};"
        yield f"{pad}long long blocks_ = n_bins_ > 0 ? points_ / (4 * n_bins_) : 0;"
        yield f"{pad}if (blocks_ > blocks(points_, 4096)) blocks_ = blocks(points_, 4096);"
        yield f"{pad}if (blocks_ > {_PARTIAL_BLOCKS}) blocks_ = {_PARTIAL_BLOCKS};"
        yield f"{pad}if (blocks_ > 0 && n_bins_ <= {BINS_BYTES // size})"
        launch = f"<<<(unsigned)blocks_, {REDUCTION_THREADS}>>>"
        yield f"{pad}  {kernel.name}_bins{launch}({given}, (int)n_bins_);"

    def reduce(self, kernel: Reduction, depth: int) -> Iterator[str]:
        """Yield the launch of a reduction, and of the combination of its blocks' results."""
        pad, kind = "  " * depth, type_name(kernel.target.type)
        given = [*self._given(arguments(self.plan, kernel)), f"({kind} *)partial_"]
        given += [] if kernel.located is None else ["partial_at_"]
        threads = REDUCTION_THREADS
        counts = [self._count(one) for one in kernel.axes]
        yield f"{pad}{{"
        if len(counts) > 1:
            counts = [f"(({one}) > 0 ? {one} : 0)" for one in counts]
        yield f"{pad}  const long long count_ = {' * '.join(counts)};"
        yield f"{pad}  unsigned blocks_ = count_ > {ONE_BLOCK} ? blocks(count_, {4 * threads}) : 1;"
        yield f"{pad}  if (blocks_ > {_PARTIAL_BLOCKS}) blocks_ = {_PARTIAL_BLOCKS};"
        yield f"{pad}  {kernel.name}<<<blocks_, {threads}>>>({', '.join(given)});"
        total = ", ".join([*given, "(int)blocks_"])
        yield f"{pad}  if (blocks_ > 1) {kernel.name}_total<<<1, {threads}>>>({total});"
        yield f"{pad}}}"

    def nest(self, step: HostNest, depth: int) -> Iterator[str]:
        """Yield a sequential loop, between copies of what it uses to the host and back."""
        pad = "  " * depth
        passed = arguments(self.plan, step)
        scalars = [self.names[one.symbol] for one in passed if one.kind == "device"]
        arrays = [one for one in passed if one.kind == "array"]
        if any(self.plan.arrays[one.symbol.name].extent is not None for one in arrays):
            raise CannotError(f"a local array in the loop of line {step.line}")
        for name in scalars:
            to_host = f"&{name}, d_{name}, sizeof({name}), cudaMemcpyDeviceToHost"
            yield f"{pad}CHECKED(cudaMemcpy({to_host}));"
        for one in arrays:
            name = one.symbol.name
            if self.plan.arrays[name].is_written:
                yield f"{pad}{self._copy(name, 'in', safe(name), f'd_{name}', 'DeviceToHost')}"
        yield f"{pad}{{"
        printer = Printer(names={**self.names, **{one: safe(one.name) for one in step.private}})
        for symbol in step.private:
            yield f"{pad}  {printer.declaration(symbol)};"
        yield from printer.block(step.body, depth + 1)
        yield f"{pad}}}"
        for name in scalars:
            to_device = f"d_{name}, &{name}, sizeof({name}), cudaMemcpyHostToDevice"
            yield f"{pad}CHECKED(cudaMemcpy({to_device}));"
        for one in arrays:
            name = one.symbol.name
            if one.is_written:
                yield f"{pad}{self._copy(name, 'in', f'd_{name}', safe(name), 'HostToDevice')}"

    def scan(self, step: Scan, depth: int) -> Iterator[str]:
        """Yield the launch of a scan; if it is long, after the totals of its blocks."""
        pad, kind = "  " * depth, type_name(step.running.type)
        given = [*self._given(arguments(self.plan, step)), f"({kind} *)partial_"]
        launch = f"<<<blocks_, {REDUCTION_THREADS}>>>({', '.join(given)});"
        yield f"{pad}{{"
        yield f"{pad}  const long long count_ = {self._count(step.axis)};"
        tiles = 4 * REDUCTION_THREADS * SCAN_TILES
        yield f"{pad}  unsigned blocks_ = count_ > {ONE_SCAN} ? blocks(count_, {tiles}) : 1;"
        yield f"{pad}  if (blocks_ > {_PARTIAL_BLOCKS}) blocks_ = {_PARTIAL_BLOCKS};"
        yield f"{pad}  if (blocks_ > 1) {step.name}_totals{launch}"
        yield f"{pad}  {step.name}{launch}"
        yield f"{pad}}}"

    def copy(self, step: Snapshot, depth: int) -> Iterator[str]:
        """Yield the copy of an array on the device."""
        name, own = step.array.name, step.copy.name
        given = f"d_{own}, d_{name}, {name}_in_end, cudaMemcpyDeviceToDevice"
        yield f"{'  ' * depth}CHECKED(cudaMemcpy({given}));"
