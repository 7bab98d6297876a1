"""Which sources is each program of a build made of? Its compilers are watched while it runs.

Compilers and `ar` are found by name. A folder in front of `PATH` has a script for each of them,
which notes its folder and its words and goes on as the one it stands for:

    make  ->  cc -c -DX=1 a.c          note  ["/home/me/p", "cc", "-c", "-DX=1", "a.c"]  ->  gcc ...
              cc -o p a.o libq.a       note  ["/home/me/p", "cc", "-o", "p", ...]        ->  gcc ...

The notes tell which sources an object, an archive and a program have in them, each with its own
command. A machine without a compiler gets the one of `kleene.frontends.c.compiler`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kleene.base import tidy
from kleene.base.errors import SourceError
from kleene.frontends.c import compiler
from kleene.frontends.c.source import LANGUAGES

_TOOL = re.compile(
    r"([\w.]+-)*(?P<tool>cc|c\+\+|c89|c99|c11|gcc|g\+\+|clang|clang\+\+|ar)(-\d+(\.\d+)*)?"
)
_WITH_VALUE = re.compile(
    r"-[oxILDUFTzu]|-l|-isystem|-iquote|-idirafter|-include|-imacros|-isysroot|--sysroot|-target"
    r"|-M[FTQJ]|-Xclang|-Xlinker|-Xassembler|-Xpreprocessor|-mllvm|-arch|--param|-framework|-aux-info"
)
_NEITHER = re.compile(r"-E|-S|-M|-MM|-fsyntax-only|-###|--version|-v|-V|--help|-print-.*|-dump.*")
_OBJECTS = (".o", ".lo", ".os", ".obj")
_SCRIPT = """\
#!/bin/sh
printf '%s\\0' "$#" "$PWD" {name} "$@" >> {notes}/$$
PATH={path}
export PATH
exec {real} "$@"
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a compiler or of `ar`: where, and its words."""

    folder: str
    words: tuple[str, ...]

    @property
    def is_of_ar(self) -> bool:
        """Whether it makes an archive."""
        found = _TOOL.fullmatch(self.words[0])
        return found is not None and found["tool"] == "ar"


@dataclass(frozen=True, slots=True)
class Unit:
    """A source as it was compiled."""

    folder: str
    file: str
    words: tuple[str, ...]
    output: str

    def as_json(self) -> dict[str, object]:
        """Return its entry of a compilation database."""
        return {
            "directory": self.folder,
            "file": self.file,
            "arguments": list(self.words),
            "output": self.output,
        }


@dataclass(slots=True)
class Build:
    """What a build has compiled and linked.

    Attributes:
        units: every source that was compiled and is still there.
        linked: the units in each program, shared library and archive, by its file; those in outer
            folders first.
        gone: sources that the build has removed again.
    """

    units: list[Unit] = field(default_factory=list)
    linked: dict[str, list[Unit]] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


def captured(command: Sequence[str]) -> Build:
    """Run a build, and return what it compiled and linked; its output goes to standard error.

    Raises:
        SourceError: the build cannot be started, or fails (`c/build-failed`), or compiles nothing
            (`c/nothing-compiled`).
    """
    with tidy.scratch() as folder:
        notes, scripts = folder / "notes", folder / "bin"
        notes.mkdir()
        scripts.mkdir()
        path = os.environ.get("PATH", os.defpath)
        for name, real in _tools(path).items():
            _write_script(scripts / name, real, notes, path)
        _run(command, os.environ | {"PATH": f"{scripts}{os.pathsep}{path}"})
        build = build_of(_calls(notes))
    if not build.units:
        raise SourceError(
            None,
            "c/nothing-compiled",
            f"'{shlex.join(command)}' compiled no C or C++ that is still there",
            "if it was built before, clean it first (make clean)",
            "compilers that it names by their path are not seen: name them (make CC=cc CXX=c++);"
            " CMake finds the right ones if it is captured, too (sh -c 'cmake -B b && make -C b')",
        )
    return build


def _tools(path: str) -> dict[str, list[str]]:
    """Return what stands behind each name; without any compiler, the bundled one does."""
    found: dict[str, list[str]] = {}
    for folder in path.split(os.pathsep):
        if not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            file = os.path.abspath(os.path.join(folder, name))
            if _TOOL.fullmatch(name) and os.access(file, os.X_OK):
                found.setdefault(name, [file])
    if not {"cc", "gcc", "clang"} & set(found):
        bundled = compiler.find()
        plain = "-fno-sanitize=undefined"  # which zig adds to what is not optimised
        found |= {name: [*bundled.for_c, plain] for name in ("cc", "gcc")}
        found |= {name: [*bundled.for_cxx, plain] for name in ("c++", "g++")}
        if bundled.home is not None:
            found.setdefault("ar", [bundled.for_c[0], "ar"])
    return found


def _write_script(script: Path, real: list[str], notes: Path, path: str) -> None:
    text = _SCRIPT.format(
        name=shlex.quote(script.name),
        notes=shlex.quote(str(notes)),
        path=shlex.quote(path),
        real=shlex.join(real),
    )
    script.write_text(text, errors="surrogateescape")
    script.chmod(0o755)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        with tidy.running(command, stdout=2, env=environment) as child:
            status = child.wait()
    except OSError as error:
        message = f"'{command[0]}' cannot be started: {error.strerror}"
        raise SourceError(None, "c/build-failed", message) from None
    if status:
        message = f"'{shlex.join(command)}' ended with {status}"
        anyway = shlex.join(["sh", "-c", f"{shlex.join(command)} || true"])
        note = f"nothing was written; for what it makes before it fails: kleene capture -- {anyway}"
        raise SourceError(None, "c/build-failed", message, note)


def _calls(notes: Path) -> list[Call]:
    """Return the calls in the order in which they began."""
    found: list[tuple[int, int, Call]] = []
    for file in notes.iterdir():
        words = os.fsdecode(file.read_bytes()).split("\0")
        began, at = file.stat().st_mtime_ns, 0  # of the last, if a process's number was taken again
        while words[at]:
            end = at + 3 + int(words[at])  # the number of words; the folder; the name; the words
            found.append((began, at, Call(words[at + 1], tuple(words[at + 2 : end]))))
            at = end
    return [call for _, _, call in sorted(found, key=lambda one: one[:2])]


def build_of(calls: Iterable[Call]) -> Build:
    """Return what calls of compilers and of `ar` have made, first to last."""
    build, links = Build(), []
    made: dict[str, list[Unit]] = {}
    for call in calls:
        if call.is_of_ar:
            links.append(partial(_archive, call))
        elif not any(_NEITHER.fullmatch(word) for word in call.words[1:]):
            given = _Given(call.words)
            units = _compile(call, given, build)
            if given.only_compiles:
                made |= {_file(call, unit.output): [unit] for unit in units}
            else:
                links.append(partial(_link, call, given, units))
    before = None
    while before != made:  # what links a library may have begun within a tick of its archiver
        before = dict(made)
        for link in links:
            link(made, build)
    build.linked = dict(sorted(build.linked.items(), key=lambda one: (one[0].count("/"), one[0])))
    return build


def _archive(call: Call, made: dict[str, list[Unit]], build: Build) -> None:
    """Note an archive: `ar rcs libq.a a.o b.o`."""
    words = [word for word in call.words[1:] if not word.startswith("--")]
    if len(words) < 2 or not set("rq") & set(words[0]):
        return
    archive = _file(call, words[1])
    members = [unit for word in words[2:] for unit in _units(call, word, made)]
    made[archive] = build.linked[archive] = _distinct([*made.get(archive, []), *members])


def _compile(call: Call, given: _Given, build: Build) -> list[Unit]:
    """Return the sources of a call."""
    units = []
    for file in given.files:
        if os.path.splitext(file)[1] not in LANGUAGES:
            continue
        if not os.path.isfile(os.path.join(call.folder, file)):
            build.gone.append(file)
            continue
        output = given.output if given.output and given.only_compiles else f"{_stem(file)}.o"
        units.append(Unit(call.folder, file, call.words, output))
    build.units += units
    return units


def _link(
    call: Call, given: _Given, compiled: list[Unit], made: dict[str, list[Unit]], build: Build
) -> None:
    """Note a program or a shared library: `cc -o p main.c a.o -lq`."""
    units = [*compiled, *(unit for one in given.files for unit in _units(call, one, made))]
    for name in given.libraries:
        units += _library(call, name, given.folders, made)
    if units:
        output = _file(call, given.output or "a.out")
        made[output] = build.linked[output] = _distinct(units)


class _Given:
    """The words of a compiler, sorted by what they are."""

    def __init__(self, words: Sequence[str]) -> None:
        self.files: list[str] = []
        self.libraries: list[str] = []
        self.folders: list[str] = []
        self.output: str | None = None
        self.only_compiles = "-c" in words
        rest = iter(words[1:])
        for word in rest:
            option, value = word[:2], word[2:]
            if _WITH_VALUE.fullmatch(word):
                option, value = word, next(rest, "")
            if option == "-o":
                self.output = value
            elif option == "-l":
                self.libraries.append(value)
            elif option == "-L":
                self.folders.append(value)
            elif not word.startswith("-"):
                self.files.append(word)


def _units(call: Call, name: str, made: Mapping[str, list[Unit]]) -> list[Unit]:
    """Return the units of a file.

    An object that was moved (`mv objs/a.o a.lo`) is known by its name: it is no more where it was.
    """
    file = _file(call, name)
    if file in made or not name.endswith(_OBJECTS):
        return made.get(file, [])
    moved = [
        units
        for other, units in made.items()
        if other.endswith(_OBJECTS) and _stem(other) == _stem(file) and not os.path.exists(other)
    ]
    return moved[0] if len(moved) == 1 else []


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]


def _library(
    call: Call, name: str, folders: Iterable[str], made: Mapping[str, list[Unit]]
) -> Iterator[Unit]:
    """Yield the units of a library of this build: one of others is external."""
    for folder in folders:
        for suffix in (".so", ".a"):
            file = _file(call, os.path.join(folder, f"lib{name}{suffix}"))
            if file in made:
                yield from made[file]
                return


def _file(call: Call, name: str) -> str:
    return os.path.realpath(os.path.join(call.folder, name))


def _distinct(units: Iterable[Unit]) -> list[Unit]:
    return list(dict.fromkeys(units))
