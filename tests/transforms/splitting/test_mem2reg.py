"""Splitting at definitions beside LLVM's mem2reg: the same pruned SSA, φ for φ.

LLVM first puts the registers of a program into memory (reg2mem), then mem2reg, as the last step of
scalar replacement, places φ for them again. The variables are the locals in memory; both see the
same blocks. mem2reg leaves out a φ whose operands are one and the same value, so these do not count
here either.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.ir import Program
from kleene.ir.codes import Opcode, ValueKind
from kleene.transforms.splitting import Accesses, NameKind, Role, Splitting, split
from kleene.transforms.splitting.program import control_flow


def without_and_with_phis(path: Path, folder: Path) -> tuple[Program, Program]:
    """Return a program with its registers in memory, and what mem2reg makes of that."""
    binding = pytest.importorskip("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_bitcode(path.read_bytes())
    programs = []
    for name in ("add_register_to_memory_pass", "add_sroa_pass"):
        manager = binding.create_new_module_pass_manager()
        builder = binding.create_pass_builder(
            binding.Target.from_default_triple().create_target_machine(),
            binding.create_pipeline_tuning_options(),
        )
        getattr(manager, name)()
        manager.run(module, builder)
        target = folder / f"{name}.bc"
        target.write_bytes(module.as_bitcode())
        programs.append(kleene.load(target, cache=False))
    return programs[0], programs[1]


def promotable(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return loads and stores of locals whose address goes nowhere else: variable, row, role."""
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    place = np.arange(len(owner)) - table.offsets[owner]
    value = table.operands - first
    is_local = (value >= 0) & (value < len(table))
    is_local[is_local] = table.opcode[value[is_local]] == Opcode.ALLOCA
    owner, place, value = owner[is_local], place[is_local], value[is_local]
    opcode = table.opcode[owner]
    accessed = np.where(opcode == Opcode.LOAD, table.type[owner], 0)
    stored = table.operands[table.offsets[owner]]
    accessed = np.where(opcode == Opcode.STORE, program.value_types[stored], accessed)
    fine = ((opcode == Opcode.LOAD) | ((opcode == Opcode.STORE) & (place == 1))) & (
        accessed == table.about[value]
    )
    fine &= table.flags[owner] & (3 << 8) == 0
    spoiled = np.zeros(len(table), bool)
    spoiled[value[~fine]] = True
    keep = ~spoiled[value]
    role = np.where(opcode[keep] == Opcode.LOAD, Role.USE, Role.DEFINITION)
    return value[keep], owner[keep], role


def needed_phis(names: Splitting) -> list[int]:
    """Return the φ that are not one and the same value, wherever it is defined above them."""
    flow, tree = names.flow, names.flow.tree
    node = flow.node_of(names.point)
    phis = set(np.flatnonzero(names.kind == NameKind.PHI).tolist())
    same: dict[int, int] = {}

    def known(name: int) -> int:
        while name in same:
            name = same[name]
        return name

    is_changed = True
    while is_changed:
        is_changed = False
        for phi in sorted(phis):
            given = {known(name) for name in names.operands_of(phi)} - {phi}
            real = given - {-1}
            if len(real) > 1:
                continue
            one = real.pop() if real else -1
            above = one < 0 or bool(
                tree.pre[node[one]] <= tree.pre[node[phi]] <= tree.last[node[one]]
            )
            if -1 in given and not above:
                continue
            same[phi] = one
            phis.discard(phi)
            is_changed = True
    return sorted(phis)


@pytest.mark.parametrize("name", ["lua", "nginx"] if os.environ.get("KLEENE_DEEP") else ["lua"])
def test_definitions_alone_give_the_pruned_ssa_of_mem2reg(
    name: str, shared_data: Path, tmp_path: Path
) -> None:
    before, after = without_and_with_phis(shared_data / "bitcode" / f"{name}.bc", tmp_path)
    assert not (before.instructions.opcode == Opcode.PHI).any()
    variable, row, role = promotable(before)
    flow = control_flow(before)
    accesses = Accesses(variable.astype(np.int32), row.astype(np.int64), role.astype(np.uint8))
    names = split(flow, accesses, "ssa")
    ours = flow.node_of(names.point[needed_phis(names)])
    theirs = after.instructions.block[after.instructions.opcode == Opcode.PHI]
    counts = [np.bincount(blocks, minlength=len(before.blocks)) for blocks in (ours, theirs)]
    # Structs on the stack are taken apart by the pass, which makes variables of its own.
    locals_ = np.flatnonzero(before.instructions.opcode == Opcode.ALLOCA)
    compared = np.diff(before.function_table.block_offsets) > 0
    compared[before.instruction_function[np.setdiff1d(locals_, variable)]] = False
    here = compared[before.blocks.function]
    assert np.array_equal(counts[0][here], counts[1][here])
    assert compared.sum() > 500  # of both programs, more than 1,000
    assert counts[1][here].sum() > 1000
