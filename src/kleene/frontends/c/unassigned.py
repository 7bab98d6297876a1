"""LLVM code in which storage without a value is a copy of a variable, `@kleene.unset`.

LLVM takes `phi [2, undef]` for 2 when it turns locals into SSA values, and so hides that a local
may be read before it is assigned. Here each local is filled from `@kleene.unset`, of which LLVM
knows nothing: where its storage begins, and again where its declaration is reached (C11, 6.2.4p6).
Clang says where that is if it is told to fill locals with a pattern: what does so is annotated as
"auto-init", and is replaced. The reader takes what was loaded from `@kleene.unset` for undefined,
and leaves out copies that LLVM did not take apart (see `reader.functions`).

    %u = alloca i32, align 4                       %u = alloca i32, align 4
    store i32 -1431655766, ptr %u, !annotation =>  call @llvm.memcpy(%u, @kleene.unset, 4)

Where scopes are tidied up when they are left, only variables are filled, and not the result of the
function: which way leads where is a number there, and on ways that go on there is no result yet.

A declaration that is jumped over fills nothing. So a local is also filled where its storage begins,
unless that block of the function assigns it before all else. Behind that block `lifetime.start`
stands before a copy, for variables that stay in memory: it says that the value is gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kleene.frontends.c.exchange import UNSET
from kleene.frontends.c.kept import Fields, Keeper, with_marks

VERSION = 2  # of the code that comes out: to be raised whenever it changes
# Take LLVM's text with types of a module and the names of some of them, and return their sizes.
SizesOf = Callable[[str, Sequence[str]], list[int]]

_NAME = r'%(?:"[^"]*"|[-\w.$]+)'
_NOTE = re.compile(r'^!(\d+) = !\{!"auto-init"\}$', re.MULTILINE)
_ALLOCA = re.compile(
    rf"^  ({_NAME}) = alloca ([^\n]+?)(?:, align \d+)?(?:, ![^\n]*)?$", re.MULTILINE
)
_SCALAR = r"i\d+|ptr|half|bfloat|float|double|x86_fp80|fp128|ppc_fp128|<\d+ x [^<> ]+>"
_SIZELESS = re.compile(r"addrspace\(|target\(|vscale ")
_LENGTH = re.compile(r", i\d+ [^\],}>]+$")  # an array whose length is computed, or an alloca()
_STORE = re.compile(rf"  store ({_SCALAR}) ([^\n]+), ptr ({_NAME})(?:, align \d+)?(?:, !.*)?\n")
_FILL = re.compile(
    rf"  call void @llvm\.mem(?:cpy|set)[\w.]*\(ptr (?:align \d+ )?({_NAME}), "
    r"([^\n]*), (i\d+) ([^,\n]+), i1 false\)[^\n]*\n"
)
_CONSTANT = re.compile(r'@__const\.[-\w.$]+|@"__const\.[^"]*"')
_MENTION = re.compile(_NAME)
_DEFINED_TYPE = re.compile(rf"^{_NAME} = type [^\n]+\n", re.MULTILINE)
_VECTOR = re.compile(r"<(\d+) x ([^<>]+)>")
_EXTENDED = "x86_fp80"  # an alloca of one is larger than what is stored there
_EXTENDED_BYTES = 10
_VARIABLE = re.compile(rf"#dbg_declare\(ptr ({_NAME}),")
_TERMINATOR = re.compile(
    rf"  (?:{_NAME} = )?(?:br|switch|ret|indirectbr|invoke|callbr|resume|unreachable|catchswitch)\b"
)
_CXX = "language: DW_LANG_C_plus_plus"
_RESTORES = "@llvm.stackrestore"
_PART = re.compile(
    rf"  ({_NAME}) = getelementptr (?:inbounds )?i8, ptr ({_NAME}), i64 \d+(?:, ![^\n]*)?\n"
)
# An array of computed length is filled in a loop, one element after the other.
_LOOP = re.compile(
    rf"  ({_NAME}) = icmp eq i\d+ [^\n]+\n"
    rf"  br i1 \1, label ({_NAME}), [^\n]+\n"
    r"\n[^\n]+:[^\n]*\n"
    rf"  {_NAME} = mul nuw [^\n]+\n"
    rf"  ({_NAME}) = getelementptr inbounds i8, [^\n]+\n"
    r"  br label [^\n]+\n"
    r"\n[^\n]+:[^\n]*\n"
    rf"  ({_NAME}) = phi ptr [^\n]+\n"
    r"  call void @llvm\.memcpy[^\n]+, (!annotation !\d+)[^\n]*\n"
    rf"  ({_NAME}) = getelementptr inbounds i8, ptr \4, [^\n]+\n"
    rf"  ({_NAME}) = icmp eq ptr \6, \3[^\n]*\n"
    r"  br i1 \7, label \2, [^\n]+\n"
)
_COPY = "@llvm.memcpy.p0.p0.{}"
_BEGIN = "@llvm.lifetime.start.p0"


def with_unset(text: str, sizes_of: SizesOf) -> str:
    """Return the code of a module in which locals without a value are copies of `@kleene.unset`."""
    if f"\n@{UNSET} = " in text:  # it is such code already
        return text
    found = _NOTE.search(text)
    note = re.compile(rf"!annotation !{found[1]}(?!\d)") if found else None
    parts = list(_parts(text))
    fields = Fields("".join(parts[::2]))
    keepers = [Keeper(body, dict(_ALLOCA.findall(_entry_of(body))), fields) for body in parts[1::2]]
    sizes = _sizes(parts, note, set[str]().union(*(one.types for one in keepers)), sizes_of)
    filler = _Filler(note, sizes, _CXX in text)
    parts[1::2] = [
        with_marks(filler.function(body), keeper.names(sizes))
        for body, keeper in zip(parts[1::2], keepers, strict=True)
    ]
    if filler.sources:
        parts[0] = _without_patterns(parts, filler.sources)
    changed = "".join(parts)
    declared = {_COPY.format(width): f"ptr, ptr, {width}, i1" for width in sorted(filler.widths)}
    declared |= {_BEGIN: "ptr"} if filler.begins else {}
    missing = [
        f"declare void {name}({types})\n"
        for name, types in declared.items()
        if f"\ndeclare void {name}(" not in changed
    ]
    return "".join([changed, f"\n@{UNSET} = external global i8\n", *missing])


def _parts(text: str) -> Iterator[str]:
    """Yield the text in parts: every other one is the body of a function."""
    place, start = 0, text.find("\ndefine ")
    while start >= 0:
        first = text.find("\n", start + 1) + 1
        end = text.find("\n}", first) + 1
        yield text[place:first]
        yield text[first:end]
        place, start = end, text.find("\ndefine ", end)
    yield text[place:]


def _entry_of(body: str) -> str:
    """Return the block that a function begins with."""
    end = body.find("\n\n") + 1
    return body[:end] if end else body


def _sizes(
    parts: Sequence[str], note: re.Pattern[str] | None, others: set[str], sizes_of: SizesOf
) -> dict[str, int]:
    """Return the bytes that are stored of types: of locals, of parts of them, and of others."""
    found = others | {type_ for body in parts[1::2] for _, type_ in _ALLOCA.findall(body)}
    if note is not None:
        found |= {
            store[1]
            for body in parts[1::2]
            for line in _annotated(body, note)
            if (store := _STORE.fullmatch(line))
        }
    types = sorted(one for one in found if not _LENGTH.search(one) and not _SIZELESS.search(one))
    vectors = {one: vector for one in types if (vector := _VECTOR.fullmatch(one))}
    defined = "".join(one[0] for part in parts[::2] for one in _DEFINED_TYPE.finditer(part))
    asked = [vectors[one][2] if one in vectors else one for one in types]
    sizes = dict(zip(types, sizes_of(defined, asked), strict=True))
    sizes |= {one: sizes[one] * int(vector[1]) for one, vector in vectors.items()}
    return sizes | {_EXTENDED: _EXTENDED_BYTES}


def _annotated(body: str, note: re.Pattern[str]) -> Iterator[str]:
    """Yield the lines with the annotation."""
    for found in note.finditer(body):
        yield body[body.rfind("\n", 0, found.start()) + 1 : body.find("\n", found.end()) + 1]


def _without_patterns(parts: Sequence[str], sources: set[str]) -> str:
    """Return the first globals without those that nothing but replaced copies read."""
    used = {name for body in parts[1::2] for name in _CONSTANT.findall(body)}
    unused = sources - used
    lines = parts[0].splitlines(keepends=True)
    return "".join(line for line in lines if line.partition(" = ")[0] not in unused)


class _Filler:
    """What fills the locals of one function after the other.

    Attributes:
        sources: the constants that locals were filled from.
        widths: the types of the lengths of copies.
        begins: whether a variable begins again.
    """

    def __init__(self, note: re.Pattern[str] | None, sizes: dict[str, int], is_cxx: bool) -> None:
        self._note, self._sizes, self._is_cxx = note, sizes, is_cxx
        self.sources: set[str] = set()
        self.widths: set[str] = set()
        self.begins = False

    def function(self, body: str) -> str:
        """Return the body of a function in which every local is filled where it has no value."""
        if self._note and " = mul nuw " in body:
            body = _LOOP.sub(self._without_loop, body)
        first = _entry_of(body)
        rest = body[len(first) :]
        sizes = {name: self._sizes.get(type_, 0) for name, type_ in _ALLOCA.findall(first)}
        if self._is_cxx or _RESTORES in body:
            variables = set(_VARIABLE.findall(body))
            sizes = {name: size for name, size in sizes.items() if name in variables}
        changed = self._entry(first, sizes)
        if self._note is None or not self._note.search(rest):
            return changed + rest
        return changed + "".join(self._replaced(rest.splitlines(keepends=True), sizes, True))

    def _entry(self, block: str, sizes: dict[str, int]) -> str:
        """Return the block that begins a function, where storage begins.

        A local is filled in front of the first use there, or at the end, unless it is stored to, or
        filled by its declaration, before all else in the block.
        """
        lines = block.splitlines(keepends=True)
        if self._note and self._note.search(block):
            lines = self._replaced(lines, sizes, False)
        copies: dict[int, str] = {}  # what comes in front of lines
        waiting, last = set(sizes), len(lines)
        for number, line in enumerate(lines):
            if line.startswith("    #") or _ALLOCA.match(line):  # a debug record
                continue
            last = number if _TERMINATOR.match(line) else last
            names = {name for name in _MENTION.findall(line) if name in waiting}
            waiting -= names
            stored = _STORE.fullmatch(line)
            if stored and stored[3] not in _MENTION.findall(stored[2]):
                names.discard(stored[3])
            if UNSET not in line:
                copies[number] = "".join(
                    self._copy(one, "i64", sizes[one]) for one in sorted(names)
                )
        rest = (self._copy(name, "i64", sizes[name]) for name in sizes if name in waiting)
        copies[last] = copies.get(last, "") + "".join(rest)
        return "".join(copies.get(number, "") + line for number, line in enumerate(lines))

    def _without_loop(self, loop: re.Match[str]) -> str:
        """Return what stands for a loop that fills an array where its storage begins."""
        assert self._note
        if not self._note.fullmatch(loop[5]):
            return loop[0]
        self.sources |= set(_CONSTANT.findall(loop[0]))
        return f"  br label {loop[2]}\n"

    def _replaced(self, lines: list[str], sizes: dict[str, int], begins: bool) -> list[str]:
        """Return lines in which what fills locals is replaced; `begins` says that it may again.

        A local may be filled part by part: that is one copy of the whole then.
        """
        assert self._note
        parts: dict[str, tuple[str, int]] = {}  # addresses in locals: the local, and the line
        whole, removed = "", list[str]()
        for number, line in enumerate(lines):
            if part := _PART.fullmatch(line):
                base, _ = parts.get(part[2], (part[2], 0))
                parts[part[1]] = base, number
                continue
            if not self._note.search(line):
                whole = ""
                continue
            copy, filled = self._filled(line)
            lines[number] = copy
            if filled in parts:
                removed.append(filled)
                base, _ = parts[filled]
                lines[number] = self._copy(base, "i64", sizes.get(base, 0)) if base != whole else ""
                filled = whole = base
            if begins and lines[number] and filled in sizes:
                lines[number] = f"  call void {_BEGIN}(ptr {filled})\n{lines[number]}"
                self.begins = True
        return _without_unused(lines, parts) if removed else lines

    def _filled(self, line: str) -> tuple[str, str]:
        """Return what stands for a line that fills a local, and which one; nothing if unknown."""
        if store := _STORE.fullmatch(line):
            return self._copy(store[3], "i64", self._sizes.get(store[1], 0)), store[3]
        if fill := _FILL.fullmatch(line):
            self.sources |= set(_CONSTANT.findall(fill[2]))
            return self._copy(fill[1], fill[3], fill[4]), fill[1]
        return "", ""

    def _copy(self, name: str, width: str, size: int | str) -> str:
        if not size:
            return ""
        self.widths.add(width)
        copied = f"ptr {name}, ptr @{UNSET}, {width} {size}, i1 false"
        return f"  call void {_COPY.format(width)}({copied})\n"


def _without_unused(lines: list[str], parts: dict[str, tuple[str, int]]) -> list[str]:
    """Return lines without addresses of parts that nothing uses any more."""
    used = Counter(name for line in lines for name in _MENTION.findall(line))
    for name, (_, number) in reversed(parts.items()):
        if used[name] == 1:  # where it is defined
            used.subtract(_MENTION.findall(lines[number]))
            lines[number] = ""
    return lines
