"""Every input as LLVM code in memory: sources compiled in parallel, each once for its content."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kleene.base import progress, tidy
from kleene.base.cache import Cache, key_of
from kleene.base.errors import SourceError, Span, raise_all
from kleene.base.files import read_file
from kleene.frontends.c import bitcode, manifests
from kleene.frontends.c.compiler import Compiler, Options, contents, find
from kleene.frontends.c.exchange import Unit
from kleene.frontends.c.inputs import Given
from kleene.frontends.c.source import Source

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


def gather(
    inputs: Sequence[Source | Given],
    *,
    options: Options,
    cc: str | None,
    cache: Cache,
    jobs: int | None,
    normalise: bool,
) -> list[Unit]:
    """Return the unit of each input, in order.

    Sources are compiled and will be normalised; given modules are taken as they are, unless
    `normalise` says otherwise.
    """
    errors: list[SourceError] = []
    units: dict[Source | Given, Unit] = {}
    for given in (entry for entry in inputs if isinstance(entry, Given)):
        try:
            units[given] = _read(given, normalise)
        except SourceError as error:
            errors.append(error)
    sources = [entry for entry in inputs if isinstance(entry, Source)]
    if sources:
        compiled = _compile_all(sources, find(cc), options, cache, jobs)
        for source, result in zip(sources, compiled, strict=True):
            if isinstance(result, SourceError):
                errors.append(result)
            else:
                units[source] = Unit(source.path, "bitcode", True, result)
    raise_all(errors)
    return [units[entry] for entry in inputs]


def _read(given: Given, normalise: bool) -> Unit:
    try:
        raw = read_file(given.file)
    except OSError as error:
        raise SourceError(Span(given.file), "c/unreadable", f"{error.strerror}") from None
    if bitcode.is_assembly(raw) or (given.form == "assembly" and not bitcode.is_bitcode(raw)):
        return Unit(given.file, "assembly", normalise, raw)  # whatever the file is called
    bitcode.check(given.file, raw)
    return Unit(given.file, "bitcode", normalise, raw)


def _compile_all(
    sources: list[Source], compiler: Compiler, options: Options, cache: Cache, jobs: int | None
) -> list[bytes | SourceError]:
    """Return each source's bitcode, or what is wrong with it."""
    found = [manifests.find(source, compiler, options, cache) for source in sources]
    changed = [source for source, raw in zip(sources, found, strict=True) if raw is None]
    made = iter(_compile_changed(changed, compiler, options, cache, jobs) if changed else ())
    return [next(made) if raw is None else raw for raw in found]


def _compile_changed(
    sources: list[Source], compiler: Compiler, options: Options, cache: Cache, jobs: int | None
) -> list[bytes | SourceError]:
    """Return each source's bitcode, or what is wrong with it."""
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int, source: Source) -> bytes | SourceError:
        try:
            return _compile(source, compiler, options, cache, scratch, f"{number}.bc")
        except SourceError as error:
            return error

    with (
        progress.task("compiling", len(sources)) as advance,
        tidy.scratch() as scratch,
        ThreadPoolExecutor(jobs or os.cpu_count()) as pool,
    ):
        if any(source.language == "c++" for source in sources):
            compiler.prepare(Path(scratch))
        futures = [pool.submit(work, number, source) for number, source in enumerate(sources)]
        _follow(futures, pool, advance)
        return [future.result() for future in futures]


def _follow(
    futures: list[Future[bytes | SourceError]], pool: ThreadPoolExecutor, advance: progress.Advance
) -> None:
    from concurrent.futures import as_completed

    try:
        for _ in as_completed(futures):
            advance(1)
    except BaseException:  # an interrupt: start no further compilation, and wait for none
        pool.shutdown(wait=False, cancel_futures=True)
        tidy.end_processes()
        raise


def _compile(
    source: Source, compiler: Compiler, options: Options, cache: Cache, scratch: Path, name: str
) -> bytes:
    if cache.folder is None:
        return compiler.compile(source, options, scratch, scratch / name)
    start_ns = time.time_ns()
    text = compiler.preprocess(source, options, scratch)
    key = _key(source, compiler, options, text)
    raw = cache.get("c-unit", key)
    if raw is None:
        raw = compiler.compile(source, options, scratch, scratch / name)
        # A file edited meanwhile must not be remembered under the text it had before.
        if key != _key(source, compiler, options, text):
            return raw
        cache.put("c-unit", key, raw)
    manifests.note(source, compiler, options, cache, text=text, unit=key, start_ns=start_ns)
    return raw


def _key(source: Source, compiler: Compiler, options: Options, text: bytes) -> str:
    """Return the key of all that decides the bitcode: compiler, flags, place and text.

    The files behind the text count too: a comment leaves the text alone but moves columns.
    """
    place = os.path.abspath(source.directory or "")  # debug information names it
    _, *words = compiler.words(source, options)  # the identity stands for the program's path
    files = contents(text, source.directory)
    return key_of(compiler.identity, place, *words, source.file, text, *files)
