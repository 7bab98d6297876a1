"""A module's text with calls of the trace in it.

Only calls without a result are inserted, and names of our own where a value or a block is needed,
so that LLVM's numbers in the text stay as they are. The n-th instruction of the text is row n of
the caller's tables. Debug information is left out: it would only cost time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kleene.runtime.pointer_trace.watch import Body, Event, Places, Symbol, Watch

_RESULT = re.compile(r'  (%(?:[-\w.$]+|"[^"]*")) = ')
_CALLEE = re.compile(r'([%@](?:[-\w.$]+|"[^"]*"))\(')
_CONSTANT_CALLEE = re.compile(r"(?:call|invoke) [^@%(]*(?:inttoptr|getelementptr)[^(]*\(")
_ANYONE = -1  # whom a call of a constant expression reaches is not looked at
_CALL = re.compile(r"  (?:%\S+ = )?(?:tail |musttail |notail )?(?:call|invoke) ")
_COUNT = re.compile(r" alloca .*, (i\d+) (%\S+|\d+)(?:, align \d+)?(?:, addrspace\(\d+\))?$")
_NORMAL = re.compile(r"to label (%\S+)")
_LABEL = re.compile(r'([-\w.$]+|"[^"]*"):')
_DEBUG = re.compile(r",? !dbg !\d+")
_LABEL_ADDRESS = re.compile(r'blockaddress\(@(?:[-\w.$]+|"[^"]*"), %(?:[-\w.$]+|"[^"]*")\)')
_NO_STORAGE = -3  # the kind of labels in the trace
_INCOMING = re.compile(r', (%(?:[-\w.$]+|"[^"]*")) \]')

_DECLARATIONS = """
declare void @kleene_trace_value(i32, ptr)
declare void @kleene_trace_call(i32, ptr)
declare void @kleene_trace_target(ptr)
declare void @kleene_trace_enter(i32, ptr, ptr)
declare void @kleene_trace_local(i32, i32, ptr, i64)
declare void @kleene_trace_storage(i32, i32, ptr, i64)
declare i32 @kleene_trace_mark()
declare void @kleene_trace_made(i32, i32, ptr, i32)
"""


def instrument(text: str, watch: Watch) -> str:
    """Return the module `text` as it reports what `watch` asks for."""
    lines = iter(_plain(text))
    bodies = iter(watch.bodies)
    labels = sorted(set(_LABEL_ADDRESS.findall(text)))
    own = [_DECLARATIONS, _table(watch.symbols, labels)]
    out: list[str] = []
    row = 0
    for line in lines:
        if not line.startswith("define "):
            out.append(line)
            continue
        function = _Function(watch, next(bodies), line, row)
        out += [*own, line, *function.rewritten(lines)]
        own = []  # it stood in front of all code: a label's address can be taken only there
        row = function.row
    assert next(bodies, None) is None, "the text has fewer functions than the tables"
    assert row == len(watch.instructions.event), "the text and the tables are not of one program"
    return "\n".join([*out, ""])


def _plain(text: str) -> Iterator[str]:
    """Yield the lines without debug information, and with every constant at its own address.

    A function that must be inlined is not: what is called shows which frames are gone.
    """
    for line in text.rstrip("\0\n").split("\n"):
        if line.startswith(("    #dbg_", "!llvm.dbg.cu")):
            continue
        if line.startswith("@"):
            line = line.replace(" local_unnamed_addr", "").replace(" unnamed_addr", "")
        elif line.startswith("attributes #"):
            line = line.replace(" alwaysinline ", " noinline ")
        yield _DEBUG.sub("", line) if "!dbg" in line else line


def _table(symbols: Sequence[Symbol], labels: Sequence[str]) -> str:
    """Return the addresses that are known from the start, for the trace to read."""
    row = "{ ptr, i64, i32, i32 }"
    known = [(f"@{s.name}", s.n_bytes, s.kind, s.site) for s in symbols]
    known += [(label, 1, _NO_STORAGE, -1) for label in labels]
    rows = ", ".join(f"{row} {{ ptr {a}, i64 {n}, i32 {k}, i32 {s} }}" for a, n, k, s in known)
    return (
        f"@kleene_trace_globals = constant [{len(known)} x {row}] [{rows}]\n"
        f"@kleene_trace_n_globals = constant i64 {len(known)}\n"
    )


class _Function:
    """One body on its way from the lines read to the lines written."""

    def __init__(self, watch: Watch, body: Body, head: str, first_row: int) -> None:
        self.watch = watch
        self.row = first_row  # of the next instruction
        self.out: list[str] = []
        self.renamed: dict[tuple[str, str], str] = {}  # (block, predecessor): who jumps there now
        name, arguments = _head(head)
        self.label = f"%{sum(a[1:].isdigit() for a in arguments)}"  # of an entry without a name
        what = f"i32 {body.value}, ptr {name}, ptr %kleene.frame"
        enter = [
            "  %kleene.frame = call ptr @llvm.frameaddress.p0(i32 0)",
            f"  call void @kleene_trace_enter({what})",
        ]
        places, first = watch.arguments, body.first_argument
        self.pending = enter  # to be said before the next instruction that lets one
        for row, argument in enumerate(arguments, first):
            self.pending += _report(places, row, argument, str(places.n_bytes[row]))

    def rewritten(self, lines: Iterator[str]) -> list[str]:
        """Return the body's lines, up to its closing brace."""
        for line in lines:
            if line == "}":
                break
            if line.startswith("  ") and line[2] not in " ]":
                self._instruction(line, lines)
            else:
                if found := _LABEL.match(line):
                    self.label = f"%{found[1]}"
                self.out.append(line)
        if self.renamed:
            self.out = list(self._with_renamed_predecessors())
        return [*self.out, "}"]

    def _instruction(self, line: str, lines: Iterator[str]) -> None:
        row, places = self.row, self.watch.instructions
        self.row += 1
        found = _RESULT.match(line)
        result = found[1] if found else ""
        opcode = line[found.end() if found else 2 :].partition(" ")[0]
        if opcode not in ("phi", "landingpad"):  # nothing may stand before these
            self.out += self.pending
            self.pending = []
        if places.event[row] == Event.MADE:
            self.out.append(f"  {_mark(row)} = call i32 @kleene_trace_mark()")
        if _CALL.match(line):
            self.out += self._announced(line, places.first_value + row)
        self.out.append(line)
        if "musttail call" in line or not result:
            return
        after = self._reports(row, result, line)
        if opcode == "invoke":
            self._after_invoke(row, after, lines)
        else:
            self.pending += after

    def _announced(self, line: str, value: int) -> list[str]:
        """Return who is about to be called."""
        if _CONSTANT_CALLEE.search(line):  # such as inttoptr of a number
            return [f"  call void @kleene_trace_target(ptr inttoptr (i64 {_ANYONE} to ptr))"]
        found = _CALLEE.search(line)
        if found is None or " asm " in line[: found.start()] or found[1].startswith("@llvm."):
            return []
        callee = found[1]
        if callee[0] == "@":
            return [f"  call void @kleene_trace_target(ptr {callee})"]
        return [f"  call void @kleene_trace_call(i32 {value}, ptr {callee})"]

    def _reports(self, row: int, result: str, line: str) -> list[str]:
        places = self.watch.instructions
        counted = _COUNT.search(line) if places.event[row] == Event.LOCAL else None
        if counted is None:
            return _report(places, row, result, str(places.n_bytes[row]))
        wide, size = f"%kleene.count.{row}", f"%kleene.size.{row}"
        words = "zext" if counted[1] != "i64" else "bitcast"
        return [
            f"  {wide} = {words} {counted[1]} {counted[2]} to i64",
            f"  {size} = mul i64 {wide}, {places.n_bytes[row]}",
            *_report(places, row, result, size),
        ]

    def _after_invoke(self, row: int, after: list[str], lines: Iterator[str]) -> None:
        """Say `after` on the way to the block where the call has returned."""
        where = next(lines)
        found = _NORMAL.search(where)
        assert found, where
        edge = f"%kleene.edge.{row}"
        self.out.append(where.replace(found[0], f"to label {edge}", 1))
        self.out += ["", f"{edge[1:]}:", *after, f"  br label {found[1]}"]
        self.renamed[found[1], self.label] = edge

    def _with_renamed_predecessors(self) -> Iterator[str]:
        label = ""

        def renamed(incoming: re.Match[str]) -> str:
            return f", {self.renamed.get((label, incoming[1]), incoming[1])} ]"

        for line in self.out:
            if found := _LABEL.match(line):
                label = f"%{found[1]}"
            yield _INCOMING.sub(renamed, line) if " = phi " in line else line


def _report(places: Places, row: int, name: str, size: str) -> list[str]:
    """Return the calls that report a result: as the storage it begins, and as the value it is."""
    event = places.event[row]
    if event == Event.NONE:
        return []
    what = f"i32 {places.kind[row]}, i32 {places.site[row]}, ptr {name}"
    storage = {
        Event.LOCAL: [f"  call void @kleene_trace_local({what}, i64 {size})"],
        Event.STORAGE: [f"  call void @kleene_trace_storage({what}, i64 {size})"],
        Event.MADE: [f"  call void @kleene_trace_made({what}, i32 {_mark(row)})"],
    }
    value = f"  call void @kleene_trace_value(i32 {places.first_value + row}, ptr {name})"
    return [*storage.get(event, []), value]


def _mark(row: int) -> str:
    return f"%kleene.mark.{row}"


def _head(line: str) -> tuple[str, list[str]]:
    """Return a function's name and its arguments' names, as `line` defines it."""
    found = _CALLEE.search(line, line.index("@"))
    assert found, line
    arguments: list[str] = []
    depth, start = 0, found.end()
    for place in range(found.end(), len(line)):
        letter = line[place]
        if depth == 0 and letter in ",)":
            arguments += [word for word in line[start:place].split()[-1:] if word[0] == "%"]
            start = place + 1
            if letter == ")":
                break
        depth += (letter in "([{<") - (letter in ")]}>")
    return found[1], arguments
