"""A generated program: what its host does step by step, and what each kernel's threads do.

    for (t...) {                      HostLoop
      for (i...) for (j...) b = ...   Kernel, axes (i, j)
      for (i...) for (j...) a = ...   Kernel, axes (i, j)
    }

Emitters print a plan as CUDA C++, as C for threads of the host, and as the Python that launches
the kernels. Arrays live on the device from the first step to the last. A scalar lives on the host
if nothing that a kernel computes gets into it; others are on the device, one element each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kleene.base.expression import Expression as Size
from kleene.ir.loops.tree import (
    Block,
    Element,
    Expression,
    Location,
    Loop,
    Statement,
    Symbol,
    Type,
)


class CannotError(Exception):
    """A function that no plan is made for, with the reason."""


@dataclass(frozen=True, slots=True)
class Section:
    """Bytes of an array, from `first` to before `end`, in the function's integer parameters.

    It holds for calls in which loops have iterations: all of `trips` are above 0. Unless it
    `is_exact`, it may be larger than what is used, and than the array.
    """

    first: Size
    end: Size
    trips: tuple[Size, ...] = ()
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Array:
    """Storage on the device: a parameter that points to elements, or a local array.

    `copy_in` and `copy_out` are the sections that are moved, all of which together are a part of
    what is moved at once; None stands for the whole array.
    """

    symbol: Symbol
    element: Type
    is_read: bool
    is_written: bool
    copy_in: tuple[Section, ...] | None = None
    copy_out: tuple[Section, ...] | None = None
    extent: Expression | int | None = None  # elements of a local array


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension of a grid: `variable` takes `low`, `low + step`, ... below `high`.

    Both are host expressions. The variables of other loops that the axis stands for, too, are
    `aliases`: they have the same value.
    """

    variable: Symbol
    low: Expression
    high: Expression
    step: int = 1
    aliases: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel:
    """A launch: a thread for each point of the axes (outermost first) executes `body`.

    Without axes one thread executes a few statements, none of them a loop.
    """

    name: str
    axes: tuple[Axis, ...]
    mapping: tuple[int, ...]  # which axis is on x, y, z
    body: Block
    private: tuple[Symbol, ...] = ()
    line: int = 0
    nest: Loop | None = None  # the loops as they were written, if the first axis is the outermost
    waits: bool = True  # for the steps before; else it may run beside the one before it


@dataclass(frozen=True, slots=True)
class Located:
    """What goes with an extremum: `if (a[i] > m) { m = a[i]; where = i; }`.

    A thread notes in `at` the number of the `point` that its accumulator is of; of equal ones, the
    first counts, or the last. With the number of all, one thread does `last`: what is written for
    that point. It finds m as it was before the loop, and is what the loop would have done last.
    `last_nest` is the same of an iteration of the first axis, with all that is inside.
    """

    point: Symbol
    at: Symbol
    is_first: bool
    last: Block
    last_nest: Block


@dataclass(frozen=True, slots=True)
class Reduction:
    """A launch whose threads combine what they compute: `target = target op total`.

    Threads take points of the axes (outermost first) in turn, each with an `accumulator` of its
    own, and blocks combine these by shuffles. `before` and `after` are executed by the thread that
    has the total. Hosts divide the first axis, and execute `nest` for each of its values.
    """

    name: str
    axes: tuple[Axis, ...]
    mapping: tuple[int, ...]  # which axis counts fastest, and so on
    body: Block
    nest: Block
    operator: str
    target: Location
    accumulator: Symbol
    before: Block = ()
    after: Block = ()
    private: tuple[Symbol, ...] = ()
    line: int = 0
    located: Located | None = None

    @property
    def ordered(self) -> tuple[Axis, ...]:
        """The axes, the one that counts fastest first."""
        return tuple(self.axes[position] for position in self.mapping)


@dataclass(frozen=True, slots=True)
class HostLoop:
    """A sequential loop of the host around steps."""

    init: Block
    test: Expression
    step: Block
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class HostIf:
    """Steps under a condition that the host knows.

    It may hang on one element of the device, which is `fetched`: no step of `then` changes it.
    """

    condition: Expression
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]
    fetched: Element | None = None


@dataclass(frozen=True, slots=True)
class HostBlock:
    """Assignments to scalars of the host."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class HostNest:
    """Loops that the host executes as they are written, on arrays that it is given.

    What it assigns besides arrays are scalars of the device, and `private` ones: counters.
    """

    name: str
    body: Block
    private: tuple[Symbol, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Scan:
    """A launch whose threads have the results so far of an operation: prefix sums and the like.

    Iteration i executes `body` with `running` = `first` op (the terms of the iterations before).
    After all, `last` gets the result of all terms. Hosts execute the `nest` as it is written.
    """

    name: str
    axis: Axis
    operator: str
    term: Expression
    running: Symbol
    first: Expression  # with the axis at its first value
    body: Block
    last: Location | None
    nest: HostNest
    line: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of an array as it is before the next launch, which reads it from there."""

    array: Symbol
    copy: Symbol


@dataclass(frozen=True, slots=True)
class Atomic(Statement):
    """`target = target op value`, as one operation that no other thread sees half of."""

    operator: str
    target: Location
    value: Expression


@dataclass(frozen=True, slots=True)
class ReducedLoop(Loop):
    """A loop that does nothing but `target = target op term`, which may be in any order."""

    operator: str
    target: Location
    term: Expression


Step = Kernel | Reduction | HostLoop | HostIf | HostBlock | HostNest | Scan | Snapshot


@dataclass(frozen=True, slots=True)
class Field:
    """A step of `state->filter->gain`: the name of a field.

    It is `offset` bytes after its record, which `is_behind` a pointer: what the step before holds.
    """

    name: str
    offset: int | None
    is_behind: bool


@dataclass(frozen=True, slots=True)
class FieldParameter:
    """A parameter that is a field of a record.

    An array inside of the record has `n_elements`. What a function leaves in a field that is a
    number is a parameter of its own, an array of one element: `is_result`.
    """

    path: tuple[Field, ...]
    symbol: Symbol
    n_elements: int | None = None
    is_result: bool = False


@dataclass(frozen=True, slots=True)
class Given:
    """An argument of a call: a parameter's value, or a record of which fields are parameters.

    Global variables are arguments, too; a constant array has its `initial` values by itself. The
    number of elements is that of a global array; of others, None.
    Where C has a pointer to one integer, as code that was Fortran has, a call is given its value.
    """

    name: str
    parameter: Symbol | None
    fields: tuple[FieldParameter, ...] = ()
    is_global: bool = False
    initial: tuple[int | float, ...] = ()
    n_elements: int | None = None
    is_behind_pointer: bool = False

    @property
    def parameters(self) -> tuple[Symbol, ...]:
        """The parameters that the argument gives, in their order."""
        if self.parameter is not None:
            return (self.parameter,)
        return tuple(one.symbol for one in self.fields)


@dataclass(frozen=True, slots=True)
class Plan:
    """A function as steps.

    Attributes:
        function: its name.
        file: where it is written.
        parameters: in their order; fields of records and global variables are some.
        given: what a call is given; empty if that is each parameter.
        result: its type; "void" has none.
        arrays: by name, the storage on the device.
        device_scalars: variables that kernels compute; one that is a parameter begins with its
            argument.
        steps: what happens.
        returned: the expression that is returned at the end.
        overlaps: pairs of array parameters whose storage must differ: one of each is written.
        assumptions: what the plan hangs on, besides that.
    """

    function: str
    file: str
    parameters: tuple[Symbol, ...]
    result: Type
    arrays: dict[str, Array]
    device_scalars: tuple[Symbol, ...]
    steps: tuple[Step, ...]
    returned: Expression | None = None
    overlaps: tuple[tuple[str, str], ...] = ()
    assumptions: tuple[str, ...] = ()
    snapshots: dict[str, str] = field(default_factory=dict)  # name of each copy: of which array
    body: Block = ()  # the function as it is written, but its return
    reason: str = ""  # why there are no steps: the function is executed as it is written
    given: tuple[Given, ...] = ()

    def kernels(self) -> Iterator[Kernel | Reduction]:
        """Yield every launch once."""
        return launches(self.steps)

    def host_nests(self) -> Iterator[HostNest]:
        """Yield every sequential loop of the host once."""
        return (one for one in all_steps(self.steps) if isinstance(one, HostNest))

    def scans(self) -> Iterator[Scan]:
        """Yield every scan once."""
        return (one for one in all_steps(self.steps) if isinstance(one, Scan))


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield steps, and those inside of them."""
    for one in steps:
        yield one
        if isinstance(one, HostLoop):
            yield from all_steps(one.steps)
        elif isinstance(one, HostIf):
            yield from all_steps((*one.then, *one.otherwise))


def launches(steps: Sequence[Step]) -> Iterator[Kernel | Reduction]:
    """Yield every launch among steps once."""
    return (one for one in all_steps(steps) if isinstance(one, Kernel | Reduction))
