"""The process that holds LLVM: it reads units from stdin and writes one module's bitcode to stdout.

Parse, check, normalise, link, verify, write. The answer begins with a line of JSON that lists the
errors found, and how long the modules are that follow: the one that was linked, and the units that
were normalised for it, if there is more than one unit. See `linking`, which starts it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, BinaryIO

import llvmlite.binding as llvm

from kleene.base.errors import SourceError, Span, raise_all
from kleene.frontends.c import symbols
from kleene.frontends.c.exchange import COROUTINE, MARK, Unit
from kleene.frontends.c.unassigned import with_unset

_OPTNONE = re.compile(r"(?<=\s)optnone (?=[^\n]*\}$)", re.MULTILINE)  # in a group of attributes
_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")


def main() -> None:
    """Answer one request, then leave without tidying: freeing a large module takes a second."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints, it does not end up in the answer
    units = _receive(sys.stdin.buffer)
    modules: list[bytes] = []
    errors = []
    try:
        modules = build(units)
    except SourceError as error:
        errors = [single.as_json() for single in error]
    except UnicodeDecodeError:  # llvmlite decodes every name and message it is asked for
        span = Span(units[0].file) if len(units) == 1 else None
        errors = [SourceError(span, "c/bad-bitcode", "a name in it is not UTF-8").as_json()]
    head = {"errors": errors, "n_bytes": [len(module) for module in modules]}
    answer.write(json.dumps(head).encode() + b"\n")
    answer.writelines(modules)
    answer.close()
    os._exit(0)


def build(units: Sequence[Unit]) -> list[bytes]:
    """Return the bitcode of the module that `units` make together, then that of normalised units.

    What comes after the first is for the next time; of a single unit it is the first.
    """
    modules: list[Any] = []
    errors: list[SourceError] = []
    for number, unit in enumerate(units):
        _mark(str(number))
        try:
            modules.append(_parse(unit))
        except SourceError as error:
            errors.append(error)
    raise_all(errors)
    files = [unit.file for unit in units]
    if len(modules) > 1:
        raise_all(symbols.mixed_targets(files, modules))
        raise_all(symbols.conflicts(files, modules))
    is_alone = len(units) == 1
    normalised = [
        module.as_bitcode()
        for unit, module in zip(units, modules, strict=True)
        if unit.normalise and not is_alone
    ]
    module = _link(files, modules)
    if not symbols.declares_anything(module):
        raise SourceError(Span(files[0]), "c/empty-module", "nothing is declared or defined here")
    _mark("write")
    return [module.as_bitcode(), *normalised]


def _receive(stream: BinaryIO) -> list[Unit]:
    request = json.loads(stream.readline())
    units = [
        Unit(unit["file"], unit["form"], unit["normalise"], stream.read(unit["n_bytes"]))
        for unit in request["units"]
    ]
    _limit(request["memory_bytes"])
    return units


def _limit(memory_bytes: int) -> None:
    """Bound this process's memory, and leave no core file if it dies."""
    if os.name != "posix":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    allowed = memory_bytes if most == resource.RLIM_INFINITY else min(memory_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _mark(place: str) -> None:
    os.write(2, f"{MARK}{place}\n".encode())


def _parse(unit: Unit) -> Any:
    """Return the verified, and if asked normalised, module of `unit`."""
    context = llvm.create_context() if unit.normalise else None  # it is written, and read again
    module = _assembly(unit, context) if unit.form == "assembly" else _bitcode(unit, context)
    try:
        module.verify()
    except RuntimeError as error:
        raise SourceError(Span(unit.file), f"c/bad-{unit.form}", _first_line(error)) from None
    if any(function.name == COROUTINE for function in module.functions):
        module = _with_split_coroutines(module)
    return _normalised(module) if unit.normalise else module


def _bitcode(unit: Unit, context: Any) -> Any:
    try:
        return llvm.parse_bitcode(unit.raw, context)
    except RuntimeError as error:
        words = str(error).removeprefix("LLVM bitcode parsing error").strip()
        raise SourceError(Span(unit.file), "c/bad-bitcode", words) from None


def _assembly(unit: Unit, context: Any) -> Any:
    bad = unit.raw.find(b"\0")  # LLVM would take it for the end of the text
    if bad >= 0:
        line = unit.raw.count(b"\n", 0, bad) + 1
        raise SourceError(Span(unit.file, line), "c/bad-assembly", "a NUL byte")
    try:
        return llvm.parse_assembly(unit.raw.decode(), context)
    except UnicodeDecodeError as error:
        line = unit.raw.count(b"\n", 0, error.start) + 1
        raise SourceError(Span(unit.file, line), "c/bad-assembly", "not UTF-8 text") from None
    except RuntimeError as error:
        raise _assembly_error(unit.file, str(error)) from None


def _assembly_error(file: str, words: str) -> SourceError:
    if place := _PLACE.search(words):
        span = Span(file, int(place[1]), int(place[2]))
        return SourceError(span, "c/bad-assembly", place[3])
    return SourceError(Span(file), "c/bad-assembly", words)


def _with_split_coroutines(module: Any) -> Any:
    """Turn coroutines into functions: one that begins each, and those that resume and destroy it.

    Without that, the parts of a coroutine's frame are locals, and no code says who calls what.
    LLVM's passes for `-O0` do that and little more: they inline what must be, and leave out
    functions that nobody refers to.
    """
    builder = _passes(0)
    builder.getModulePassManager().run(module, builder)
    return module


def _passes(level: int) -> Any:
    """Return what builds LLVM's passes, for a level of optimisation."""
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(level))


def _normalised(module: Any) -> Any:
    """Turn local variables whose address is not taken into SSA values; names and lines stay.

    It is done to the module's text, read again: llvmlite can neither put an instruction into a
    module nor take an attribute away, and no pass runs over a function with `optnone`, as plain
    `clang -O0` writes them.
    """
    text = str(module)
    text = _OPTNONE.sub("", text) if "optnone" in text else text
    layout = llvm.create_target_data(module.data_layout)
    module = llvm.parse_assembly(with_unset(text, partial(_sizes, layout)))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_strip_dead_prototype_pass()  # `@kleene.unset` and the copies, where none is left
    passes.run(module, _passes(2))
    return module


def _sizes(layout: Any, defined: str, types: Sequence[str]) -> list[int]:
    """Return the sizes of types in bytes; `defined` is the text that defines those with names."""
    lines = (f"@{number} = external global {type_}\n" for number, type_ in enumerate(types))
    module = llvm.parse_assembly(defined + "".join(lines), llvm.create_context())
    with module:  # it goes before its context, which the garbage collector does not see to
        return [layout.get_abi_size(one.global_value_type) for one in module.global_variables]


def _link(files: Sequence[str], modules: Sequence[Any]) -> Any:
    """Return the verified module of them all; the first takes the others in."""
    whole = modules[0]
    _mark("link")
    for file, module in zip(files[1:], modules[1:], strict=True):
        if whole.triple:
            module.triple = whole.triple  # they differ in the system's version at most
        try:
            whole.link_in(module)
            if file == files[-1]:
                whole.verify()
        except RuntimeError as error:
            raise SourceError(Span(file), "c/cannot-link", _first_line(error)) from None
    return whole


def _first_line(error: RuntimeError) -> str:
    return str(error).strip().partition("\n")[0]


if __name__ == "__main__":
    main()
