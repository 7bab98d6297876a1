"""What an answer rests on beyond the meaning of C: all assumptions, and those a program needs.

`Assumptions` is the one list of them. What the summary prints is the `text` of one; the page of
idioms that are not followed (`docs/reference/not-followed.md`) is made of the whole list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.functions import CallTable
from kleene.analyses.points_to.constraints.pointer_parts import THROUGH
from kleene.analyses.points_to.constraints.reachability import spread
from kleene.analyses.points_to.memory_model import External
from kleene.ir.codes import GlobalFlag, Opcode, TypeKind, ValueKind
from kleene.ir.program import Program

_OWN_MEMORY = re.compile(rb"/proc/[^/\0]+/mem\0")
_WHATEVER = "what unknown code might"


@dataclass(frozen=True, slots=True)
class Assumption:
    """A sentence that must hold of a program for the answer to cover all its runs.

    `{}` in the text is a number or a name. One without a text is made of every program.
    """

    idiom: str  # what is not followed, or followed no further
    text: str
    example: str
    remedy: str  # what a user can do


class Assumptions(Enum):
    """All assumptions of points-to analysis."""

    ARITHMETIC = Assumption(
        "Pointers made by arithmetic on two addresses",
        "differences of two addresses are not turned back into pointers",
        "ptrdiff_t d = (char *)q - (char *)p; *(T **)((char *)p + d)",
        "keep the pointer itself",
    )
    CUT = Assumption(
        "Addresses cut to fewer bits, of which arithmetic makes others, or some bits are lost",
        "addresses cut to fewer bits are put together again of all their parts, unchanged",
        "uint32_t low = (uintptr_t)p; *(T **)(uintptr_t)low",
        "copy the pointer as a whole, in parts, or as bytes with memcpy",
    )
    NUMBERS = Assumption(
        "Numbers added to addresses that lead out of the object, and back",
        "numbers added to addresses do not lead out of their objects, not even on the way",
        "uintptr_t n = (uintptr_t)f + 3; ((void (*)(void))(n - 3))();",
        "set the lowest bits instead: (uintptr_t)f | 3",
    )
    CONSTANT = Assumption(
        "Addresses written as numbers",
        "integer constants turned into pointers point to no object of the program",
        "volatile int *port = (int *)0x40021000;",
        "nothing, if what lies there is no variable of the program",
    )
    CHARACTERS = Assumption(
        "Pointers in the characters of C++ strings and streams",
        "characters that strings and streams copy (std::char_traits) are no parts of pointers",
        "std::string s((char *)&p, sizeof p);",
        "keep bytes of pointers in a std::vector<char> or an array",
    )
    COUNTS = Assumption(
        "Addresses that the C++ library computes as integers",
        "integers that the C++ library computes with are counts and hashes, no addresses",
        "std::accumulate(words, words + 2, std::uintptr_t{0})",
        "compute addresses outside of the library's algorithms",
    )
    ASSEMBLY = Assumption(
        "What inline assembly does to memory that it is not given",
        "inline assembly ({}) does to its operands " + _WHATEVER,
        'asm("call *%0" :: "r"(f));',
        "give it all that it uses as operands",
    )
    NOT_UNDERSTOOD = Assumption(
        "Instructions that Kleene does not know",
        "instructions not understood ({}) do to their operands " + _WHATEVER,
        "",
        "please report the program",
    )
    MODELLED = Assumption(
        "Library functions that do more than their models say",
        "functions outside the program ({}) do what their models say",
        "strcpy(a, b); qsort(v, n, 8, compare);",
        "a model of your own wins: --models FILE",
    )
    UNMODELLED = Assumption(
        "What functions without a body or model do to memory that they are not given",
        "functions without a model ({}) do to their arguments " + _WHATEVER,
        "watch(&event, on_event);",
        "load their sources too, or write a model",
    )
    NAMES = Assumption(
        "Symbols that code outside looks up by name",
        "code outside the program refers to none of its symbols by name",
        'dlsym(RTLD_DEFAULT, "on_load")',
        "--library: every symbol that others can see is an entry",
    )
    COMPUTED_NAMES = Assumption(
        "Symbols of the program found by a computed name in a library that is loaded",
        "no symbol of the program is found by a computed name in a library that is loaded",
        "dlsym(dlopen(path, RTLD_NOW), name), where path is null",
        "--library, or dlopen(NULL, ...) and names that are constant",
    )
    BYTES = Assumption(
        "Pointers that leave as bytes or as printed numbers, where the user says that none does",
        "pointers that leave the program as bytes or as printed numbers do not come back"
        " (files, pipes, sockets, mapped memory, texts)",
        "write(pipe, &p, sizeof p); read(pipe, &q, sizeof q);",
        "leave out --no-pointers-in-bytes",
    )
    FAULTS = Assumption(
        "Addresses that a fault reports",
        "what a fault reports (si_addr, registers) is not used as a pointer",
        "void handler(int n, siginfo_t *info, void *context) { use(info->si_addr); }",
        "a model of sigaction of your own",
    )
    RETURN_ADDRESSES = Assumption(
        "Return addresses as functions",
        "return addresses are not turned into pointers to functions",
        "backtrace(frames, n); dladdr(frames[1], &info); call(info.dli_saddr);",
        "keep the pointer to the function",
    )
    STACK_WALKS = Assumption(
        "Locals found by walking a stack",
        "nobody walks a stack from its end",
        "pthread_getattr_np(pthread_self(), &a); pthread_attr_getstack(&a, &start, &size);",
        "name what is found there in a model",
    )
    OWN_MEMORY = Assumption(
        "Files that show the memory of the program",
        "files that show the memory of a process (/proc/self/mem) are not read as its memory",
        'pread(open("/proc/self/mem", O_RDONLY), &q, sizeof q, (off_t)&p);',
        "read the memory itself",
    )
    WRAPPER = Assumption(
        "Allocation wrappers that are none",
        "each call of {} returns storage of its own, as its user says",
        "--wrapper next_slot",
        "name only functions that return new storage at each call",
    )
    CALLS = Assumption(
        "Calls that pass other arguments than the function takes",
        "{} hold are not called there{}",
        "((void (*)(void *, void *))table[i])(a, b);",
        "--arguments any",
    )
    CHANGED_BYTES = Assumption(
        "Bytes of addresses that are changed one by one, kept in wider numbers, or passed one by "
        "one to variadic functions outside",
        "",
        "for (k = 0; k < n; k++) word[k] = from[k]; for (k = 0; k < n; k++) to[k] = word[k];",
        "copy them as they are, in numbers of their own size",
    )
    INDEX = Assumption(
        "Indices that leave their array for a neighbour",
        "",
        "struct { T *a[2], *b; } s; s.a[2] = p; use(s.b);",
        "mend the program: it is undefined in C (C11, 6.5.6)",
    )
    HEAP_ARRAYS = Assumption(
        "Heap storage used as a struct, whose arrays are left by an index",
        "",
        "struct node *n = malloc(size); n->slot[5]",
        "declare the last array as a flexible array member",
    )
    OUTSIDE_OBJECTS = Assumption(
        "Accesses outside of objects, and through pointers to what is gone",
        "",
        "free(p); p->next",
        "mend the program: they are undefined in C",
    )
    TWO_ADDRESSES = Assumption(
        "One piece of memory at two addresses",
        "",
        "mmap(0, n, PROT_READ, MAP_SHARED, file, 0) twice",
        "keep in mind that the two do not alias here; they have the same contents",
    )
    CODE = Assumption(
        "Code that is made, or changed, while the program runs",
        "",
        "mprotect(page, n, PROT_EXEC); ((void (*)(void))page)();",
        "keep in mind that such code is outside the program",
    )

    def said(self, *about: object) -> str:
        """Return the sentence about a program."""
        return self.value.text.format(*about)


def assumptions_of(
    columns: Columns,
    calls: CallTable,
    externals: Sequence[External],
    named_by_user: Sequence[str],
    library_mode: bool,
) -> Iterator[str]:
    """Yield short sentences."""
    yield from _arithmetic(columns)
    if columns.moves_characters.any():
        yield Assumptions.CHARACTERS.said()
    if columns.pointer_typed[columns.results(np.flatnonzero(columns.counts))].any():
        yield Assumptions.COUNTS.said()
    if n_assembly := int(calls.is_assembly.sum()):
        yield Assumptions.ASSEMBLY.said(_times(n_assembly))
    if n_opaque := len(columns.rows(Opcode.OPAQUE)):
        yield Assumptions.NOT_UNDERSTOOD.said(_times(n_opaque))
    if n_modelled := sum(e.is_modelled for e in externals):
        yield Assumptions.MODELLED.said(n_modelled)
    if n_unknown := sum(not e.is_modelled for e in externals):
        yield Assumptions.UNMODELLED.said(n_unknown)
        if not library_mode:
            yield Assumptions.NAMES.said()
    if any(e.name == "sigaction" for e in externals) and _has_handlers_of_faults(columns.program):
        yield Assumptions.FAULTS.said()
    if _OWN_MEMORY.search(columns.program.strings.data.tobytes()):
        yield Assumptions.OWN_MEMORY.said()
    for name in named_by_user:
        yield Assumptions.WRAPPER.said(name)


def _arithmetic(columns: Columns) -> Iterator[str]:
    """Yield what is taken to hold no address, though it is computed from one, or becomes one."""
    rows = columns.rows(Opcode.SUB)
    if (columns.opcode_of(columns.operand(rows, 1)) == Opcode.PTRTOINT).any():
        yield Assumptions.ARITHMETIC.said()
    sums = columns.rows(Opcode.ADD, Opcode.SUB)
    is_constant, _ = columns.constant(columns.operand(sums, 1))
    if (is_constant & (columns.opcode_of(columns.operand(sums, 0)) == Opcode.PTRTOINT)).any():
        yield Assumptions.NUMBERS.said()
    if _cuts_addresses(columns):
        yield Assumptions.CUT.said()
    if _has_constant_pointers(columns):
        yield Assumptions.CONSTANT.said()


def _cuts_addresses(columns: Columns) -> bool:
    """Return whether some number that comes from an address is cut to fewer bits for good."""
    program, wide = columns.program, 8 * columns.word_bytes
    constants = program.bases[ValueKind.CONSTANT] + columns.expressions(Opcode.PTRTOINT)
    cast = np.append(constants, columns.results(columns.rows(Opcode.PTRTOINT)))
    is_narrow = program.types.bits[program.value_types[cast]] < wide
    if (is_narrow & ~columns.pointer_carrying[cast]).any():
        return True
    is_address = np.zeros(program.n_values, bool)
    is_address[cast] = True
    rows, operand = columns.all_operands(columns.rows(*THROUGH))
    spread(is_address, columns.results(rows), operand)
    cuts = columns.rows(Opcode.TRUNC)
    is_followed = columns.pointer_carrying[columns.results(cuts)]
    return bool((is_address[columns.operand(cuts, 0)] & ~is_followed).any())


def _has_constant_pointers(columns: Columns) -> bool:
    table = columns.program.constants
    constants = table.operands[table.offsets[columns.expressions(Opcode.INTTOPTR)]]
    operands = np.append(constants, columns.operand(columns.rows(Opcode.INTTOPTR), 0))
    return bool(columns.constant(operands)[0].any())


def _has_handlers_of_faults(program: Program) -> bool:
    """Return whether an int and two pointers are passed to some function that uses one of these.

    Such a function may be the handler of a signal, which gets what is known of it (`siginfo_t`) and
    of what was interrupted.
    """
    table, types, arguments = program.function_table, program.types, program.arguments
    is_taken = program.globals.flags[table.value] & GlobalFlag.ADDRESS_TAKEN != 0
    is_taken &= np.diff(table.block_offsets) > 0
    first = table.argument_offsets[:-1][is_taken & (np.diff(table.argument_offsets) == 3)]
    kinds = [types.kind[arguments.type[first + i]] for i in range(3)]
    fits = kinds[0] == TypeKind.INT
    fits &= (kinds[1] == TypeKind.POINTER) & (kinds[2] == TypeKind.POINTER)
    value = program.bases[ValueKind.ARGUMENT] + first[fits]
    n_uses = np.diff(program.users[0])
    return bool((n_uses[value + 1] + n_uses[value + 2]).any())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
