"""Round 3: results and operands have types that fit the instruction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.ir.codes import (
    ADDRESS_OPERAND,
    BINARY,
    CALLS,
    INTEGER_PREDICATES,
    REAL_PREDICATES,
    WITHOUT_RESULT,
    Opcode,
    TypeFlag,
    TypeKind,
    ValueKind,
)
from kleene.ir.program import Program
from kleene.ir.verifier.operands import OperandTypes
from kleene.ir.verifier.report import Report

Rows = NDArray[Any]
_MAYBE_RESULT = CALLS | {Opcode.OPAQUE}
_WITH_SUB = (Opcode.ICMP, Opcode.FCMP, Opcode.ATOMICRMW, Opcode.CMPXCHG)
_FLOAT_ARITHMETIC = frozenset(range(Opcode.FADD, Opcode.FREM + 1)) | {Opcode.FNEG}
_LIKE_RESULT: dict[int, tuple[int, ...]] = {
    Opcode.FNEG: (0,),
    Opcode.FREEZE: (0,),
    Opcode.SELECT: (1, 2),
    Opcode.ATOMICRMW: (1,),
}
_INT, _FLOAT, _POINTER = TypeKind.INT, TypeKind.FLOAT, TypeKind.POINTER
_CAST_KINDS = {  # from, to, and how the width changes
    Opcode.TRUNC: (_INT, _INT, -1),
    Opcode.ZEXT: (_INT, _INT, 1),
    Opcode.SEXT: (_INT, _INT, 1),
    Opcode.FPTRUNC: (_FLOAT, _FLOAT, -1),
    Opcode.FPEXT: (_FLOAT, _FLOAT, 1),
    Opcode.FPTOUI: (_FLOAT, _INT, 0),
    Opcode.FPTOSI: (_FLOAT, _INT, 0),
    Opcode.UITOFP: (_INT, _FLOAT, 0),
    Opcode.SITOFP: (_INT, _FLOAT, 0),
    Opcode.PTRTOINT: (_POINTER, _INT, 0),
    Opcode.PTRTOADDR: (_POINTER, _INT, 0),
    Opcode.INTTOPTR: (_INT, _POINTER, 0),
    Opcode.ADDRSPACECAST: (_POINTER, _POINTER, 0),
}
_INTS = (TypeKind.INT,)
_INTS_AND_POINTERS = (TypeKind.INT, TypeKind.POINTER)


def check_instructions(program: Program, report: Report) -> None:
    """Check the types of every instruction; nothing where its operands are already wrong."""
    if report.errors:
        return
    check = _Check(program, report)
    report.exempt = _users_of_opaque(check.operands)
    check.results()
    check.like_result()
    check.memory()
    check.comparisons()
    check.control()
    check.calls()
    check.aggregates()
    check.vectors()
    _check_casts(check.operands, report)
    report.exempt = np.empty(0, np.int64)


def _users_of_opaque(operands: OperandTypes) -> Rows:
    """Return the instructions with an operand whose type nobody knows."""
    uses, base = operands.uses, operands.program.bases[ValueKind.INSTRUCTION]
    rows = np.maximum(uses.value - base, 0)
    opcode = operands.program.instructions.opcode
    return np.asarray(uses.user[(uses.value >= base) & (opcode[rows] == Opcode.OPAQUE)])


class _Check:
    def __init__(self, program: Program, report: Report) -> None:
        self.program, self.report, self.table = program, report, program.instructions
        self.operands = OperandTypes(program)
        self.kind = program.types.kind

    def rows(self, *opcodes: int) -> Rows:
        return self.operands.rows(opcodes)

    def need(self, id: str, rows: Rows, fine: Rows, message: str) -> None:
        self.report.instructions(id, rows[~fine], message)

    def results(self) -> None:
        """Check who has a result, and that `sub` is used only where it means something."""
        opcode, is_void = self.table.opcode, self.kind[self.table.type] == TypeKind.VOID
        must_be_void = np.isin(opcode, list(WITHOUT_RESULT))
        may_be_void = must_be_void | np.isin(opcode, list(_MAYBE_RESULT))
        bad = (must_be_void & ~is_void) | (~may_be_void & is_void)
        message = "has a result it cannot have, or none where it must"
        self.report.instructions("result-type", np.flatnonzero(bad), message)
        bad = (self.table.sub != 0) & ~np.isin(opcode, [*_WITH_SUB, Opcode.OPAQUE])
        self.report.instructions("sub", np.flatnonzero(bad), "has a predicate or operation")
        valued = ~self.operands.uses.is_block & (self.operands.uses.opcode != Opcode.OPAQUE)
        of_void = self.kind[self.program.value_types[self.operands.uses.value]] == TypeKind.VOID
        bad_users = self.operands.uses.user[valued & of_void]
        self.report.instructions("operand-type", bad_users, "an operand has no value")

    def like_result(self) -> None:
        """Check operands that have the result's type."""
        rules: dict[int, tuple[int, ...]] = dict.fromkeys(BINARY, (0, 1))
        rules.update(_LIKE_RESULT)
        for opcode, places in rules.items():
            rows = self.rows(opcode)
            for place in places:
                fine = self.operands.type(rows, place) == self.table.type[rows]
                self.need("operand-type", rows, fine, "an operand has another type than the result")
        floats = self.rows(*_FLOAT_ARITHMETIC)
        ints = self.rows(*(BINARY - _FLOAT_ARITHMETIC))
        is_float = self.operands.is_scalar(self.table.type[floats], (TypeKind.FLOAT,))
        self.need("operand-type", floats, is_float, "needs floating-point operands")
        is_int = self.operands.is_scalar(self.table.type[ints], _INTS)
        self.need("operand-type", ints, is_int, "needs integer operands")
        phis = self.operands.uses.opcode == Opcode.PHI
        phis &= ~self.operands.uses.is_block
        user = self.operands.uses.user[phis]
        types = self.program.value_types[self.operands.uses.value[phis]]
        bad = user[types != self.table.type[user]]
        self.report.instructions("operand-type", bad, "an operand has another type than the result")

    def memory(self) -> None:
        """Check addresses, and the types that memory operations are about."""
        for opcode, place in ADDRESS_OPERAND.items():
            rows = self.rows(opcode)
            fine = self.kind[self.operands.type(rows, place)] == TypeKind.POINTER
            self.need("operand-type", rows, fine, "the address is no pointer")
        rows = self.rows(Opcode.CMPXCHG)
        fine = self.operands.type(rows, 1) == self.operands.type(rows, 2)
        self.need("operand-type", rows, fine, "the expected and the new value differ in type")
        rows = self.rows(Opcode.ALLOCA, Opcode.GETELEMENTPTR)
        self.need("about", rows, self.table.about[rows] >= 0, "the type it is about is missing")
        rows = self.rows(Opcode.ALLOCA)
        fine = self.kind[self.table.type[rows]] == TypeKind.POINTER
        self.need("result-type", rows, fine, "the result is no pointer")
        fine = self.kind[self.operands.type(rows, 0)] == TypeKind.INT
        self.need("operand-type", rows, fine, "the count is no integer")
        self._element_pointers()

    def _element_pointers(self) -> None:
        rows = self.rows(Opcode.GETELEMENTPTR)
        pointer = (TypeKind.POINTER,)
        fine = self.operands.is_scalar(self.operands.type(rows, 0), pointer)
        self.need("operand-type", rows, fine, "the base is no pointer")
        fine = self.operands.is_scalar(self.table.type[rows], pointer)
        self.need("result-type", rows, fine, "the result is no pointer")
        uses = self.operands.uses
        index = (uses.opcode == Opcode.GETELEMENTPTR) & (uses.place > 0)
        is_int = self.operands.is_scalar(self.program.value_types[uses.value[index]], _INTS)
        self.report.instructions(
            "operand-type", uses.user[index][~is_int], "an index is no integer"
        )

    def comparisons(self) -> None:
        """Check icmp and fcmp: predicate, operands, result."""
        for opcode, kinds in (
            (Opcode.ICMP, _INTS_AND_POINTERS),
            (Opcode.FCMP, (TypeKind.FLOAT,)),
        ):
            rows = self.rows(opcode)
            left, right = self.operands.type(rows, 0), self.operands.type(rows, 1)
            self.need("operand-type", rows, left == right, "the operands differ in type")
            fine = self.operands.is_scalar(left, kinds)
            self.need("operand-type", rows, fine, "cannot compare operands of this type")
            fine = self.operands.is_bit(self.table.type[rows])
            fine &= self.operands.lanes[self.table.type[rows]] == self.operands.lanes[left]
            self.need("result-type", rows, fine, "the result must be i1, as wide as the operands")
            sub, is_int = self.table.sub[rows], opcode == Opcode.ICMP
            fine = np.isin(sub, sorted(INTEGER_PREDICATES if is_int else REAL_PREDICATES))
            self.need("sub", rows, fine, "the predicate is not one of this comparison")
        rows = self.rows(Opcode.SELECT)
        fine = self.operands.is_bit(self.operands.type(rows, 0))
        self.need("operand-type", rows, fine, "the condition is not i1")

    def control(self) -> None:
        """Check conditions, cases and what is returned."""
        rows = self.rows(Opcode.BR)
        rows = rows[self.operands.counts[rows] == 3]
        fine = self.operands.is_bit(self.operands.type(rows, 0))
        self.need("operand-type", rows, fine, "the condition is not i1")
        uses = self.operands.uses
        case = (uses.opcode == Opcode.SWITCH) & ~uses.is_block
        user = uses.user[case]
        types = self.program.value_types[uses.value[case]]
        fine = (types == self.operands.type(user, 0)) & (self.kind[types] == TypeKind.INT)
        self.report.instructions("operand-type", user[~fine], "cases and value differ in type")
        self._returns()

    def _returns(self) -> None:
        rows = self.rows(Opcode.RET)
        types, functions = self.program.types, self.program.function_table
        of_global = self.program.globals.type[functions.value[self.program.instruction_function]]
        result = types.elements[types.offsets[of_global[rows]]]
        is_bare = self.operands.counts[rows] == 0
        given = np.full(len(rows), -1)
        given[~is_bare] = self.operands.type(rows[~is_bare], 0)
        fine = np.where(is_bare, self.kind[result] == TypeKind.VOID, given == result)
        self.need("return-type", rows, fine, "does not return what the function's type says")

    def calls(self) -> None:
        """Check calls against the function type they are about."""
        rows = self.rows(*CALLS)
        about, types = self.table.about[rows], self.program.types
        fine = (about >= 0) & (types.kind[about] == TypeKind.FUNCTION)
        self.need("about", rows, fine, "a call must be about a function type")
        rows, about = rows[fine], about[fine]
        fine = types.elements[types.offsets[about]] == self.table.type[rows]
        self.need("result-type", rows, fine, "the result is not that of the function type")
        fine = self.kind[self.operands.type(rows, 0)] == TypeKind.POINTER
        self.need("operand-type", rows, fine, "the callee is no pointer")
        uses = self.operands.uses
        is_argument = np.isin(uses.opcode, list(CALLS)) & ~uses.is_block & (uses.place > 0)
        given = np.bincount(uses.user[is_argument], minlength=len(self.table))[rows]
        wanted = np.diff(types.offsets)[about] - 1
        is_vararg = (types.flags[about] & TypeFlag.VARARG) != 0
        fine = (given == wanted) | (is_vararg & (given > wanted))
        self.need("call-arguments", rows, fine, "passes more or fewer arguments than declared")
        self._arguments(rows[fine], is_argument)

    def _arguments(self, rows: Rows, is_argument: NDArray[np.bool_]) -> None:
        uses, types = self.operands.uses, self.program.types
        chosen = np.zeros(len(self.table), bool)
        chosen[rows] = True
        user, place = uses.user[is_argument], uses.place[is_argument]
        about = self.table.about[user]
        fixed = chosen[user] & (place < np.diff(types.offsets)[about])
        user, place, about = user[fixed], place[fixed], about[fixed]
        wanted = types.elements[types.offsets[about] + place]
        given = self.program.value_types[uses.value[is_argument][fixed]]
        message = "an argument has another type than the function type says"
        self.report.instructions("call-arguments", user[given != wanted], message)

    def aggregates(self) -> None:
        """Check extractvalue and insertvalue by walking their indices."""
        for opcode, first_index in ((Opcode.EXTRACTVALUE, 1), (Opcode.INSERTVALUE, 2)):
            rows, bad = self.rows(opcode), []
            outer = self.operands.type(rows, 0).tolist()
            value = self.operands.type(rows, 1) if first_index == 2 else self.table.type[rows]
            for row, type_id, wanted in zip(rows.tolist(), outer, value.tolist(), strict=True):
                indices = self.table.operands_of(row)[first_index:].tolist()
                if self.operands.inner(type_id, indices) != wanted:
                    bad.append(row)
            self.report.instructions("operand-type", bad, "its indices lead to another type")
        rows = self.rows(Opcode.INSERTVALUE)
        fine = self.operands.type(rows, 0) == self.table.type[rows]
        self.need("result-type", rows, fine, "the result is not of the aggregate's type")

    def vectors(self) -> None:
        """Check access to vectors, lane by lane."""
        operands, result = self.operands, self.table.type
        rows = self.rows(Opcode.EXTRACTELEMENT)
        fine = _both(
            operands.lanes[operands.type(rows, 0)] != 0,
            operands.scalar[operands.type(rows, 0)] == result[rows],
        )
        self.need("operand-type", rows, fine, "the result is no element of the vector")
        rows = self.rows(Opcode.INSERTELEMENT)
        fine = _both(
            operands.type(rows, 0) == result[rows],
            operands.scalar[result[rows]] == operands.type(rows, 1),
        )
        self.need("operand-type", rows, fine, "the value is no element of the vector")
        rows = self.rows(Opcode.SHUFFLEVECTOR)
        left, mask = operands.type(rows, 0), operands.type(rows, 2)
        fine = _both(
            left == operands.type(rows, 1), operands.lanes[mask] == operands.lanes[result[rows]]
        )
        fine = _both(fine, operands.scalar[left] == operands.scalar[result[rows]])
        self.need("operand-type", rows, fine, "operands, mask and result do not fit")


def _both(left: Rows, right: Rows) -> Rows:
    return np.logical_and(left, right)


def _check_casts(operands: OperandTypes, report: Report) -> None:
    """Check operand and result of every cast."""
    types, result = operands.program.types, operands.program.instructions.type
    for opcode, (source_kind, target_kind, change) in _CAST_KINDS.items():
        rows = operands.rows((opcode,))
        source, target = operands.type(rows, 0), result[rows]
        fine = operands.is_scalar(source, (source_kind,)) & operands.is_scalar(
            target, (target_kind,)
        )
        fine &= operands.lanes[source] == operands.lanes[target]
        if change:
            width = types.bits[operands.scalar[target]] - types.bits[operands.scalar[source]]
            fine &= np.sign(width) == change
        message = "cannot cast between these types"
        report.instructions("cast", rows[~fine], message)
    rows = operands.rows((Opcode.BITCAST,))
    source, target = operands.type(rows, 0), result[rows]
    fine = (types.size[source] == types.size[target]) & (types.size[source] >= 0)
    scalable = (operands.lanes[source] < 0) | (operands.lanes[target] < 0)
    report.instructions("cast", rows[~(fine | scalable)], "a bitcast must keep the size")
