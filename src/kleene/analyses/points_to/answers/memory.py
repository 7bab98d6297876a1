"""What every instruction of a solved program does to memory, as `memory_ssa` takes it.

Locations are the regions of mod/ref. A load reads and a store writes what its pointer leads to; a
call writes what its callees do, with all that these call. A store *overwrites* a region if its
pointer is one exact address of storage that exists once (or is the function's own local variable),
and its bytes cover those of the region. So does the alloca of such a variable: it begins undefined.

Memory also changes where no instruction of a function changes it:

- The second return of `setjmp` finds memory as it was at the `longjmp`: the call of it writes all.
- Another thread may write. C allows that only with synchronisation between (else it is a data
  race, and undefined). So in a program that starts threads, atomic accesses, fences, and calls of
  code outside write all that other threads may know.
- A signal handler may write variables that are `volatile`: reads of these are marked by their
  instructions, and are for the reader to look at.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.answers.aliases import Accesses, Aliases, accesses_of
from kleene.analyses.points_to.answers.mod_ref import EffectFinder, Regions, set_bits
from kleene.analyses.points_to.answers.sets import Solved, explicit, unpacked
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64, U64, Bools, Ints, distinct, offsets_of, ragged
from kleene.graphs import Rows
from kleene.ir.codes import CALLS, Flag, GlobalFlag, Opcode, ValueKind
from kleene.results.call_graph import CALLBACK
from kleene.transforms.memory_ssa import MemoryAccesses, MemoryRole

_STARTS_THREADS = (b"pthread_create", b"thrd_create", b"clone")


def memory_accesses_of(
    solved: Solved, effects: EffectFinder, aliases: Aliases, *, calls_read: bool = False
) -> MemoryAccesses:
    """Return what instructions do to regions of memory.

    Args:
        solved: the program.
        effects: what they touch.
        aliases: which objects are one address.
        calls_read: whether calls read what their callees read; else they only write.
    """
    program, direct, regions = solved.program, effects.direct, effects.regions
    is_call = np.isin(program.instructions.opcode, list(CALLS))
    of_group = regions.of_group
    owner = np.repeat(np.arange(len(of_group)), of_group.lengths())
    variable = regions.is_variable[of_group.values]
    lists = _Groups()
    readable = lists.add(of_group)
    writable = lists.add(_rows(owner[variable], of_group.values[variable], len(of_group)))
    plain = ~is_call[direct.row]
    reads, writes = plain & ~direct.is_write, plain & direct.is_write
    columns: list[tuple[Ints, Ints, MemoryRole]] = [
        (direct.row[reads], readable + direct.group[reads], MemoryRole.READ),
        (direct.row[writes], writable + direct.group[writes], MemoryRole.WRITE),
    ]
    outside = regions.outside
    known = lists.add(Rows.from_lists([outside, outside[regions.is_variable[outside]]]))
    for rows, group, role in columns[:2]:  # a second access for what the unknown stands for
        wide = direct.has_outside[(group - readable) % max(len(of_group), 1)]
        again = np.full(int(wide.sum()), known + (role == MemoryRole.WRITE))
        columns.append((rows[wide], again, role))
    calls = np.flatnonzero(is_call)
    roles = (MemoryRole.READ, MemoryRole.WRITE) if calls_read else (MemoryRole.WRITE,)
    for role in roles:
        bits = effects.bits_of(calls, is_write=role == MemoryRole.WRITE)
        different, which = _distinct_rows(bits)
        row, region = set_bits(different, len(regions))
        keep = regions.is_variable[region] | (role == MemoryRole.READ)
        first = lists.add(_rows(row[keep], region[keep], len(different)), is_exact=False)
        columns.append((calls, first + which, role))
    for rows, groups in (_overwritten(solved, effects, aliases), _made(solved, effects, aliases)):
        columns.append((rows, lists.add(groups) + np.arange(len(rows)), MemoryRole.OVERWRITE))
    for rows, changed in _from_elsewhere(solved, effects):
        every = Rows.from_lists([np.flatnonzero(changed & regions.is_variable)])
        number = lists.add(every, is_exact=False)
        columns.append((rows, np.full(len(rows), number), MemoryRole.WRITE))
    return MemoryAccesses(
        np.concatenate([column[0] for column in columns]).astype(np.int64),
        np.concatenate([column[1] for column in columns]).astype(np.int32),
        np.repeat([column[2] for column in columns], [len(c[0]) for c in columns]).astype(np.uint8),
        lists.rows(),
        lists.is_exact(),
        len(regions),
    )


def _distinct_rows(bits: U64) -> tuple[U64, I64]:
    """Return the different rows, and which of them each row is.

    A number is computed of each row, and equal ones are taken for equal rows if they are: NumPy's
    own way sorts the rows themselves, which takes ten times as long.
    """
    odd = np.random.default_rng(0).integers(0, 1 << 63, bits.shape[1], np.uint64) * 2 + 1
    number = (bits * odd).sum(axis=1, dtype=np.uint64)
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first][which], bits):
        different, which = np.unique(bits, axis=0, return_inverse=True)
        return different, which.reshape(-1)
    return bits[first], which


class _Groups:
    """Lists of regions, one after the other."""

    def __init__(self) -> None:
        self._parts: list[Rows] = []
        self._is_exact: list[Bools] = []

    def add(self, rows: Rows, *, is_exact: bool = True) -> int:
        """Append lists; return the number of the first."""
        first = sum(map(len, self._parts))
        self._parts.append(rows)
        self._is_exact.append(np.full(len(rows), is_exact))
        return first

    def is_exact(self) -> Bools:
        """Return for each list whether variables are told apart by it."""
        return np.concatenate(self._is_exact)

    def rows(self) -> Rows:
        """Return all lists."""
        lengths = np.concatenate([part.lengths() for part in self._parts])
        return Rows(offsets_of(lengths), np.concatenate([part.values for part in self._parts]))


def _rows(owner: I64, values: Ints, n_rows: int) -> Rows:
    """Return the values of each owner; owners ascend."""
    return Rows(offsets_of(np.bincount(owner, minlength=n_rows)), values.astype(np.int32))


def _overwritten(solved: Solved, effects: EffectFinder, aliases: Aliases) -> tuple[I64, Rows]:
    """Return the stores that overwrite regions, and these.

    A store of n bytes at byte b of its allocation overwrites an object at byte c, of which m bytes
    are ever accessed, if b <= c and c + m <= b + n; a region, if it does so with all objects of it.
    """
    locations, regions = solved.system.locations, effects.regions
    table = _stores(solved)
    single, object_ = _single_objects(solved, table)
    row, n_bytes = table.row[single], table.n_bytes[single]
    allocation = locations.allocation[object_]
    is_one = aliases.is_made_once[allocation]
    is_one |= aliases.own_local[allocation] == solved.program.instruction_function[row]
    is_one &= aliases.is_exact[object_]
    row, object_, n_bytes = row[is_one], object_[is_one], n_bytes[is_one]
    sizes, size = np.unique(n_bytes, return_inverse=True)
    stores, which = np.unique(object_ * max(len(sizes), 1) + size, return_inverse=True)
    object_, n_bytes = stores // max(len(sizes), 1), sizes[stores % max(len(sizes), 1)]
    # Exact objects by allocation and byte: those that begin inside a store's bytes stand together.
    n_accessed = _accessed_bytes(solved, effects)
    exact = np.flatnonzero(aliases.is_exact)
    byte = locations.byte.astype(np.int64)
    end = byte[object_] + n_bytes
    different = distinct(np.concatenate([byte[exact], end]))

    def ordered(allocation: Ints, byte: I64) -> I64:
        found: I64 = allocation.astype(np.int64) * len(different) + different.searchsorted(byte)
        return found

    key = ordered(locations.allocation[exact], byte[exact])
    exact, key = exact[(by_key := np.argsort(key))], key[by_key]
    first = key.searchsorted(ordered(locations.allocation[object_], byte[object_]))
    last = key.searchsorted(ordered(locations.allocation[object_], end), "right")
    owner, place = ragged(first, last)
    inside = exact[place]
    covered = byte[inside] + n_accessed[inside] <= end[owner]
    groups = _whole(regions, owner[covered], inside[covered], len(stores))
    is_some = groups.lengths()[which] > 0
    return row[is_some], _taken(groups, which[is_some])


def _accessed_bytes(solved: Solved, effects: EffectFinder) -> I64:
    """Return how many bytes of each object, from its first on, loads and stores ever touch.

    Padding behind a field belongs to it. Where an access may begin elsewhere, all bytes count.
    """
    table, solution = accesses_of(solved.program), solved.solution
    locations = solved.system.locations
    groups = effects.access_groups
    n_bytes = np.repeat(groups.n_bytes, groups.held.lengths())
    pairs = distinct(groups.held.values.astype(np.int64) << 32 | n_bytes)
    objects, n_bytes = pairs >> 32, pairs & 0xFFFFFFFF
    offsets, touched = effects.touched_by(objects, n_bytes)
    at = np.repeat(np.arange(len(pairs)), np.diff(offsets))
    whole = locations.n_bytes.astype(np.int64)
    found = np.zeros(len(locations), np.int64)
    np.maximum.at(found, objects, n_bytes)
    found = np.minimum(found, whole)
    elsewhere = touched[touched != objects[at]]
    found[elsewhere] = whole[elsewhere]
    if solution.unknown[table.pointer].any():
        found[solved.known_outside] = whole[solved.known_outside]
    return found


def _made(solved: Solved, effects: EffectFinder, aliases: Aliases) -> tuple[I64, Rows]:
    """Return where local variables that exist once begin, and the regions these are.

    What was there before is gone: a variable begins undefined, and so it does where
    `llvm.lifetime.start` says so.
    """
    program, table = solved.program, solved.system.allocations
    offsets = solved.system.problem.allocation_offsets
    is_one = aliases.is_made_once | (aliases.own_local >= 0)
    made = np.flatnonzero((table.kind == AllocationKind.STACK) & is_one)
    groups = _whole(effects.regions, *ragged(offsets[made], offsets[made + 1]), len(made))
    site, instructions = table.site[made].astype(np.int64), program.instructions
    again = np.flatnonzero(program.begins_storage & (instructions.opcode != Opcode.ALLOCA))
    address = instructions.operands[instructions.offsets[again] + 1]
    order = np.argsort(site)
    place = np.minimum(np.searchsorted(site[order], address), max(len(site) - 1, 0))
    known = site[order][place] == address if len(site) else np.zeros(len(again), bool)
    which = np.concatenate([np.arange(len(made)), order[place[known]]])
    rows = np.concatenate([site - program.bases[ValueKind.INSTRUCTION], again[known]])
    return rows, _taken(groups, which)


def _stores(solved: Solved) -> Accesses:
    """Return the stores."""
    table = accesses_of(solved.program)
    chosen = table.opcode == Opcode.STORE
    return Accesses(
        table.row[chosen], table.opcode[chosen], table.pointer[chosen], table.n_bytes[chosen]
    )


def _single_objects(solved: Solved, table: Accesses) -> tuple[I64, I64]:
    """Return the accesses whose pointer holds one object and nothing else, and these objects."""
    solution = solved.solution
    sizes = solution.rows.sizes()
    row = solution.row_of[table.pointer]
    single = np.flatnonzero((sizes[row] == 1) & ~solution.unknown[table.pointer])
    rows, which = np.unique(row[single], return_inverse=True)
    return single, unpacked(solution, rows).values[which].astype(np.int64)


def _whole(regions: Regions, owner: I64, objects: I64, n_lists: int) -> Rows:
    """Return for each list of objects the regions all of whose members are in it, ascending.

    Lists are given by pairs of their number and an object, each once.
    """
    region = regions.of_object[objects]
    owner, region = owner[region >= 0], region[region >= 0].astype(np.int64)
    keys, counts = np.unique(owner * max(len(regions), 1) + region, return_counts=True)
    owner, region = keys // max(len(regions), 1), keys % max(len(regions), 1)
    is_whole = regions.members.lengths()[region] == counts
    return _rows(owner[is_whole], region[is_whole], n_lists)


def _taken(rows: Rows, which: I64) -> Rows:
    """Return some of the rows, in this order."""
    place = ragged(rows.offsets[which], rows.offsets[which + 1])[1]
    return Rows(offsets_of(rows.lengths()[which]), rows.values[place])


def _from_elsewhere(solved: Solved, effects: EffectFinder) -> list[tuple[I64, Bools]]:
    """Return instructions at which memory may have changed otherwise, and the regions changed."""
    program, table = solved.program, solved.program.instructions
    calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    callee = table.operands[table.offsets[calls]]
    is_named = callee < len(program.globals)
    flags = np.where(is_named, program.globals.flags[np.where(is_named, callee, 0)], 0)
    twice = (flags & GlobalFlag.RETURNS_TWICE != 0) | (table.flags[calls] & Flag.RETURNS_TWICE != 0)
    found = [(calls[twice], np.ones(len(effects.regions), bool))]
    if _starts_threads(solved):
        rows, _ = effects.calls_out
        ordered = table.flags & Flag.ATOMIC != 0
        ordered |= np.isin(table.opcode, (Opcode.FENCE, Opcode.ATOMICRMW, Opcode.CMPXCHG))
        rows = distinct(np.concatenate([rows, np.flatnonzero(ordered)]))
        found.append((rows.astype(np.int64), _shared(solved, effects)))
    return found


def _starts_threads(solved: Solved) -> bool:
    """Return whether the program calls what starts threads, or code outside may."""
    program = solved.program
    if any(not external.is_modelled for external in solved.system.externals):
        return True
    symbols = program.globals.name[program.function_table.value].tolist()
    return any(program.strings.raw(symbol) in _STARTS_THREADS for symbol in symbols)


def _shared(solved: Solved, effects: EffectFinder) -> Bools:
    """Return which regions other threads may know: all but of locals whose address stays put.

    A local's address gets to another thread through memory, or as the argument that code outside
    hands to the thread's function.
    """
    solution, system = solved.solution, solved.system
    allocation = system.locations.allocation
    contents = system.problem.contents
    nodes = distinct(contents[contents >= 0])
    known = solved.known_outside.copy()
    known[explicit(solution, nodes)] = True
    callbacks = effects.graph.kind == CALLBACK
    functions = distinct(
        np.concatenate(
            [
                effects.graph.targets[np.repeat(callbacks, effects.graph.n_targets)],
                effects.graph.escaped_ids,
            ]
        )
    )
    offsets = solved.program.function_table.argument_offsets
    first = solved.program.bases[ValueKind.ARGUMENT]
    formals = [np.arange(offsets[f], offsets[f + 1]) + first for f in functions.tolist()]
    if formals:
        known[explicit(solution, np.concatenate(formals))] = True
    is_kept = np.ones(len(system.allocations), bool)
    is_kept[allocation[known]] = False
    is_local = (system.allocations.kind == AllocationKind.STACK) & is_kept
    found = np.zeros(len(effects.regions), bool)
    of_object = effects.regions.of_object
    others = of_object[~is_local[allocation]]
    found[others[others >= 0]] = True
    return found
