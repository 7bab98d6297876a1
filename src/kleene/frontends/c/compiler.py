"""Which clang compiles, and how is it called?

By default it is the clang inside PyPI's `ziglang`, which brings its own C and C++ library headers,
so that nothing else need be installed. `cc` or `$KLEENE_CC` names another clang.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from kleene.base import tidy
from kleene.base.errors import SourceError, Span, raise_all
from kleene.base.files import read_file
from kleene.frontends.c import diagnostics, templates
from kleene.frontends.c.source import Language, Source

# Unoptimised, with variables and lines; functions stay open to the SROA pass that follows. The rest
# undoes what zig's defaults would add (sanitizer calls, stack canaries; NDEBUG, without which there
# would be no assertions, wherever it is told to optimise), and says nothing of warnings.
_ALWAYS = (
    "-g",
    "-UNDEBUG",
    "-fno-sanitize=undefined",
    "-fno-stack-protector",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-fno-color-diagnostics",
)
# Declarations of locals without a value fill them, and say so: see `unassigned`. Of older compilers
# than this, which do not say it, it is not asked.
_FILL_LOCALS = "-ftrivial-auto-var-init=pattern"
_ANNOTATING_MAJOR = 13
_SYSTEM_FOLDERS = ("/usr/local/include", "/usr/include/{arch}-linux-gnu", "/usr/include")
# Where the compiler may write: reports of its own crashes, too.
_SCRATCH = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "TMPDIR", "TMP", "TEMP")
_NEWEST_LIBRARY = 42  # glibc 2.42 is the newest that zig 0.17 has
_VERSION_WITHIN_S = 60
_COMPILED_WITHIN_S = 1800  # sqlite3, 9 MB in one file, takes 4; a crash may also be an endless loop
# For C++ clang emits inline functions and tables that others have too (available_externally) only
# if it is to optimise: it is told so, and told to run no pass. What the C++ library declares as
# instantiated elsewhere is instantiated here: see `templates` for libc++, and for libstdc++ a
# header that is read before all others.
# Type metadata says which tables a virtual call may read: those of the class in the source, and of
# classes derived from it. The attribute, which `reader.attributes` looks for, is on functions all
# of whose virtual calls say so.
_TYPE_TESTS = tuple(
    word
    for option in (
        *("-fwhole-program-vtables", "-flto-unit"),
        *("-default-function-attr", "kleene-type-tests"),
    )
    for word in ("-Xclang", option)
)
_BY_LANGUAGE: dict[Language, tuple[str, ...]] = {
    "c": ("-O0", "-Xclang", "-disable-O0-optnone"),
    "c++": ("-O1", "-Xclang", "-disable-llvm-passes", *_TYPE_TESTS, "-std=gnu++17"),
}
_LIBCXX = ("lib", "libcxx", "include")  # in the folder of the bundled compiler
_INSTANTIATE = str(Path(__file__).with_name("instantiate.h"))
HEADERS = Path(__file__).with_name("include")  # with kleene.h
_MARKER = re.compile(rb'^# \d+ "((?:[^"\\]|\\.)+)"([ \d]*)$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked of every compilation."""

    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    standards: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    def words(self, language: Language) -> list[str]:
        """Return the flags for a file in `language`."""
        return [
            *(f"-std={name}" for name in self.standards if language_of(name) == language),
            *(f"-D{define}" for define in self.defines),
            *(f"-I{os.path.abspath(folder)}" for folder in self.includes),
            *self.flags,
            "-w",
        ]


def language_of(standard: str) -> Language:
    """Return the language of a standard's name: "c11" is C, "gnu++20" is C++."""
    return "c++" if "++" in standard else "c"


@dataclass(frozen=True, slots=True)
class Compiler:
    """A clang: the words that call it per language, and what tells it from any other."""

    for_c: tuple[str, ...]
    for_cxx: tuple[str, ...]
    identity: str
    home: str | None = None  # of the bundled one: the folder with all its headers
    fills_locals: bool = True

    def words(self, source: Source, options: Options) -> list[str]:
        """Return the command that compiles `source`, but for what to make of it."""
        front = self.for_c if source.language == "c" else self.for_cxx
        ours = (*_BY_LANGUAGE[source.language], *_ALWAYS, f"-idirafter{HEADERS}")
        ours += (_FILL_LOCALS,) if self.fills_locals else ()
        own = [*ours, *self._library(source), *source.flags, *options.words(source.language)]
        if source.language == "c++" and (self.home is None or "-nostdinc++" in own):
            own += ["-include", _INSTANTIATE]
        return [*front, *own, "-x", source.language]

    def _library(self, source: Source) -> list[str]:
        """Return words for the C library of this machine, if a build was configured for that.

        Such a build has its own `strlcpy` where the library has none, and only there. The bundled
        compiler has the headers of all versions, and takes an old one unless told.
        """
        found = re.fullmatch(r"glibc 2\.(\d+)", os.confstr("CS_GNU_LIBC_VERSION") or "")
        if self.home is None or source.directory is None or found is None:
            return []
        target = self.for_c[self.for_c.index("-target") + 1]
        return ["-target", f"{target}.2.{min(int(found[1]), _NEWEST_LIBRARY)}"]

    def prepare(self, scratch: Path) -> None:
        """Write what compilations in `scratch` share; once, before the first of them."""
        if self.home is not None:
            templates.write_overlay(Path(self.home, *_LIBCXX), scratch)

    def _overlay(self, source: Source, scratch: Path) -> list[str]:
        if self.home is None or source.language != "c++":
            return []
        return ["-Xclang", "-ivfsoverlay", "-Xclang", str(scratch / templates.OVERLAY)]

    def preprocess(self, source: Source, options: Options, scratch: Path) -> bytes:
        """Return the text of `source` with its headers in place and its macros expanded."""
        words = [*self.words(source, options), *self._overlay(source, scratch)]
        return _run([*words, "-E", _operand(source.file)], source, scratch)

    def expand(self, source: Source, options: Options, scratch: Path) -> bytes:
        """Return the preprocessed text of `source` as its syntax tree is made from."""
        return _run([*self.words(source, options), "-E", _operand(source.file)], source, scratch)

    def precompile(self, header: Source, options: Options, scratch: Path, output: Path) -> None:
        """Write the precompiled `header`; `-E` keeps zig from linking."""
        *words, _ = self.words(header, options)
        made = ["c++-header", "-E", "-Xclang", "-emit-pch", "-o", str(output)]
        _run([*words, *made, _operand(header.file)], header, scratch)

    def syntax_tree(
        self, source: Source, options: Options, scratch: Path, headers: Path | None = None
    ) -> bytes:
        """Return clang's syntax tree of `source` as JSON, without what is in precompiled `headers`.

        The action that comes last is the one that clang runs; `-E` keeps zig from linking.
        """
        given = [] if headers is None else ["-Xclang", "-include-pch", "-Xclang", str(headers)]
        made = [*given, "-E", "-Xclang", "-ast-dump=json", _operand(source.file)]
        return _run([*self.words(source, options), *made], source, scratch)

    def compile(self, source: Source, options: Options, scratch: Path, output: Path) -> bytes:
        """Return the bitcode of `source`."""
        made = ["-c", "-emit-llvm", _operand(source.file), "-o", str(output)]
        words = [*self.words(source, options), *self._overlay(source, scratch)]
        _run([*words, *made], source, scratch)
        try:
            raw = output.read_bytes()
            output.unlink()
        except OSError as error:
            problem = f"the compiler wrote nothing that can be read: {error.strerror}"
            raise SourceError(Span(source.path), "c/compiler-crashed", problem) from None
        return raw


def _operand(file: str) -> str:
    """Return the name of a file so that no compiler takes it for an option or a response file."""
    return os.path.join(".", file) if file.startswith(("-", "@")) else file


def find(cc: str | None = None) -> Compiler:
    """Return the compiler that `cc` names, else `$KLEENE_CC`, else ziglang's."""
    asked = cc or os.environ.get("KLEENE_CC")
    return _named(asked) if asked else _bundled()


@cache
def _bundled() -> Compiler:
    package = find_spec("ziglang")
    folders = package.submodule_search_locations if package else None
    # Called itself and not through `python -m ziglang`, which takes as long again.
    program = shutil.which(os.path.join(folders[0], "zig")) if folders else None
    if program is None:
        raise SourceError(
            None,
            "c/no-compiler",
            "the package 'ziglang' is not installed",
            "pip install ziglang, or name a clang with cc= (--cc) or $KLEENE_CC",
        )
    arch = "aarch64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
    # A fixed target: zig would otherwise tune to this very CPU, and vectorise for it.
    target = ("-target", f"{arch}-linux-gnu", *_system_headers(arch))
    stamp = os.stat(program)  # the version is in metadata, which takes long to import
    identity = f"ziglang {stamp.st_size} {stamp.st_mtime_ns}"
    home = os.path.join(os.path.dirname(program), "")
    return Compiler((program, "cc", *target), (program, "c++", *target), identity, home)


def _system_headers(arch: str) -> tuple[str, ...]:
    """Return words that add this machine's headers of installed libraries, after the bundled ones.

    A fixed target has no headers but the C library's; whoever builds with gcc has these as well.
    """
    folders = [folder.format(arch=arch) for folder in _SYSTEM_FOLDERS]
    return tuple(word for f in folders if os.path.isdir(f) for word in ("-idirafter", f))


@cache
def _named(asked: str) -> Compiler:
    try:
        words = tuple(shlex.split(asked))
    except ValueError:  # a quotation mark alone
        words = ()
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise SourceError(
            None,
            "c/no-compiler",
            f"no such compiler: {asked}",
            "name a clang that is installed, or none, to use the one in the package 'ziglang'",
        )
    command = (program, *words[1:])
    identity = _identity(command)
    if identity is None:
        raise SourceError(
            None,
            "c/no-compiler",
            f"{asked} is not a clang",
            "Kleene reads LLVM bitcode, which clang writes and other compilers do not",
        )
    major = re.search(r"clang version (\d+)", identity)
    annotates = major is not None and int(major[1]) >= _ANNOTATING_MAJOR
    return Compiler(command, command, identity, fills_locals=annotates)


def _identity(command: tuple[str, ...]) -> str | None:
    """Return what tells this clang from any other, or None if it is not one."""
    try:
        told = tidy.run([*command, "--version"], timeout=_VERSION_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if told.returncode or b"clang" not in told.stdout:
        return None
    stamp = os.stat(command[0])
    words = told.stdout.decode(errors="replace")
    return "\n".join([*command, words, str(stamp.st_size), str(stamp.st_mtime_ns)])


def _run(command: Sequence[str], source: Source, scratch: Path) -> bytes:
    """Return what the command prints; its complaints become `SourceError`s."""
    environment = os.environ | {name: str(scratch) for name in _SCRATCH}
    try:
        done = tidy.run(command, cwd=source.directory, env=environment, timeout=_COMPILED_WITHIN_S)
    except OSError as error:
        raise SourceError(None, "c/no-compiler", f"{error.filename}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        message = f"the compiler is not done after {_COMPILED_WITHIN_S} s"
        raise SourceError(Span(source.path), "c/compiler-crashed", message) from None
    except ValueError as error:  # a NUL in an option, or a surrogate that stands for no byte
        message = f"this can be no option of the compiler: {error}"
        raise SourceError(None, "c/bad-option", message) from None
    if done.returncode:
        told = done.stderr.decode(errors="replace")
        if crash := diagnostics.crash(done.returncode, told, source.path):
            raise crash
        raise_all(diagnostics.errors(told, source.path, source.directory))
    return done.stdout


def contents(text: bytes, directory: str | None) -> list[bytes]:
    """Return the bytes of each file that the preprocessed `text` came from, bar system headers."""
    files = files_of(text, with_system=False)
    return [_bytes_of(os.path.join(directory or "", name)) for name in files]


def files_of(text: bytes, *, with_system: bool = True) -> list[str]:
    """Return the files that the preprocessed `text` says it came from, each once."""
    found = {
        name.replace(b"\\\\", b"\\").replace(b'\\"', b'"'): None
        for name, flags in _MARKER.findall(text)
        if with_system or b"3" not in flags.split()
    }
    return [os.fsdecode(name) for name in found]


def _bytes_of(file: str) -> bytes:
    """Return what is in `file`, or nothing: `#line` and the compiler name some that never were."""
    try:
        return read_file(file)
    except OSError:
        return b""
