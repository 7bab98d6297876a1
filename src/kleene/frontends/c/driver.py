"""`kleene.load`: from paths to one `Program`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kleene.base import progress
from kleene.base.cache import Cache, default_folder, key_of
from kleene.base.errors import SourceError
from kleene.base.files import PathLike
from kleene.base.paths import paths_of
from kleene.frontends.c import unassigned
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.exchange import COROUTINE, Unit
from kleene.frontends.c.inputs import Given, discover
from kleene.frontends.c.linking import linking
from kleene.frontends.c.loops import Reader
from kleene.frontends.c.source import Source
from kleene.frontends.c.units import gather
from kleene.kernels import compiled

if TYPE_CHECKING:
    from kleene.ir import Program

_INTERPRETED_S_A_BYTE = 2e-6  # of bitcode, read by plain Python


def load(
    paths: PathLike | Iterable[PathLike],
    *,
    defines: str | Iterable[str] = (),
    includes: PathLike | Iterable[PathLike] = (),
    std: str | Iterable[str] | None = None,
    flags: str | Iterable[str] = (),
    only: str | Iterable[str] = (),
    cc: str | None = None,
    cache: bool | Cache = True,
    jobs: int | None = None,
    normalise: bool = False,
) -> Program:
    """Return the program that `paths` make: compiled, linked into one module, and read.

    Sources are compiled unoptimised with `-g` and brought to SSA form by LLVM's SROA; variable
    names and lines survive. Bitcode and assembly are taken as they are, whatever optimised them.

    Args:
        paths: C and C++ files, folders, globs, `.bc`, `.ll`, bitcode `.o`, `compile_commands.json`.
        defines: macros for every source, "NAME" or "NAME=VALUE".
        includes: folders to look for headers in.
        std: language standards, each for the sources in its language: "c11", "c++20".
        flags: further words for the compiler, as a list or as a shell would split them.
        only: patterns that choose among the files of folders, globs and compilation databases (in
            these also by output); with "!" in front, what to leave out.
        cc: the clang to call; else `$KLEENE_CC`, else the one in the package `ziglang`.
        cache: whether to remember compiled units and programs, or where.
        jobs: how many files to compile at once; else one per CPU.
        normalise: whether to run SROA over given bitcode and assembly too.

    Raises:
        SourceError: an input is missing, does not compile, is damaged, or does not fit the others.
    """
    if jobs is not None and jobs < 1:
        raise SourceError(None, "c/bad-option", f"jobs is {jobs}, and should be 1 or more")
    store = cache if isinstance(cache, Cache) else Cache(default_folder() if cache else None)
    inputs = discover(paths_of(paths), paths_of(only))
    options = _options(defines, includes, std, flags)
    units = gather(inputs, options=options, cc=cc, cache=store, jobs=jobs, normalise=normalise)
    loops = _reader(inputs, options, cc, jobs)
    return replace(_remembered(units, store), loop_reader=loops)


def loop_reader(
    paths: PathLike | Iterable[PathLike],
    *,
    defines: str | Iterable[str] = (),
    includes: PathLike | Iterable[PathLike] = (),
    std: str | Iterable[str] | None = None,
    flags: str | Iterable[str] = (),
    only: str | Iterable[str] = (),
    cc: str | None = None,
    jobs: int | None = None,
) -> Reader:
    """Return what reads the loops of the sources among `paths`; arguments are those of `load`."""
    inputs = discover(paths_of(paths), paths_of(only))
    return _reader(inputs, _options(defines, includes, std, flags), cc, jobs)


def _reader(
    inputs: Sequence[Source | Given], options: Options, cc: str | None, jobs: int | None
) -> Reader:
    sources = tuple(one for one in inputs if isinstance(one, Source))
    return Reader(sources, options, cc, jobs)


def _options(
    defines: str | Iterable[str],
    includes: PathLike | Iterable[PathLike],
    std: str | Iterable[str] | None,
    flags: str | Iterable[str],
) -> Options:
    standards = paths_of(std) if std is not None else ()
    words = _split(flags) if isinstance(flags, str) else paths_of(flags)
    return Options(paths_of(defines), paths_of(includes), standards, words)


def _remembered(units: Sequence[Unit], store: Cache) -> Program:
    """Return the program of `units`, from the cache if it has been read before."""
    import llvmlite

    from kleene.frontends.c import reader
    from kleene.frontends.c.reader.compiled import UNIT
    from kleene.ir.store import VERSION, dumps, loads

    parts = [part for unit in units for part in (unit.form, str(unit.normalise), unit.raw)]
    numbers = (reader.VERSION, unassigned.VERSION, VERSION)
    versions = (llvmlite.__version__, *map(str, numbers))
    key = key_of(*versions, *parts) if store.folder else ""
    if (stored := store.get("c-program", key)) and (program := loads(stored)):
        return program
    n_bytes = sum(len(unit.raw) for unit in units)
    with compiled.sized(n_bytes * _INTERPRETED_S_A_BYTE, UNIT):
        program = _read_directly(units) or _read_by_llvm(units, store)
    store.put("c-program", key, dumps(program))
    return program


def _read_directly(units: Sequence[Unit]) -> Program | None:
    """Return the program of one bitcode file taken as it is, if we understand all of it."""
    from kleene.frontends.c import reader

    if len(units) != 1 or units[0].form != "bitcode" or units[0].normalise:
        return None
    if COROUTINE.encode() in units[0].raw:  # LLVM splits them
        return None
    with progress.task("reading"):
        return reader.read_given(units[0].raw)


def _read_by_llvm(units: Sequence[Unit], store: Cache) -> Program:
    """Return the program of any units, which LLVM makes one module of."""
    from kleene.frontends.c import reader

    known = _normalised(units, store) if len(units) > 1 else list(units)
    with progress.task("linking"), linking(known) as finish:
        if not compiled.is_interpreting():
            reader.warm()  # loads the compiled loops while LLVM works in its process
        raw, *normalised = finish()
    changed = [
        unit for unit, now in zip(units, known, strict=True) if now.normalise and len(units) > 1
    ]
    for unit, made in zip(changed, normalised, strict=True):
        store.put("c-normalised", _normalised_key(unit), made)
    with progress.task("reading"):
        return reader.read(raw)


def _normalised(units: Sequence[Unit], store: Cache) -> list[Unit]:
    """Return the units with those in normalised form that were normalised before."""
    found = []
    for unit in units:
        stored = store.get("c-normalised", _normalised_key(unit)) if unit.normalise else None
        found.append(unit if stored is None else Unit(unit.file, "bitcode", False, stored))
    return found


def _normalised_key(unit: Unit) -> str:
    import llvmlite

    return key_of(llvmlite.__version__, str(unassigned.VERSION), unit.form, unit.raw)


def _split(flags: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(flags))
    except ValueError as error:
        message = f"the flags cannot be split as a shell would: {error}"
        raise SourceError(None, "c/bad-option", message) from None
