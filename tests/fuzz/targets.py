"""What is fed with bad input: a target for each format that Kleene reads.

A target has seeds, good inputs that are then spoilt, and a function that takes any bytes. It may
end or raise a `SourceError`. Whatever else it raises is a fault of Kleene's, and so is an answer
that breaks a law: `case` asserts those.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kleene.base.errors import SourceError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

PROGRAM = """\
struct list { int value; struct list *next; };
int *f(int *, int **); extern int *shared; int g(int *(*)(int *, int **));
static int first(int x) { return x; }
static int (*const table[])(int) = {first, 0};
int main(int argc, char **argv) {
  int x, *p = &x; struct list l = {1, &l};
  g(f); shared = f(p, &p); *argv = (char *)p;
  return table[argc & 1](*f(&l.value, &shared)) + *p;
}
"""
ASSEMBLY = """\
@x = global i32 1
define i32 @main(i32 %n, ptr %p) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %a, label %b
a:
  %v = load i32, ptr @x, align 4
  br label %b
b:
  %r = phi i32 [ 0, %entry ], [ %v, %a ]
  %q = getelementptr { i32, [4 x ptr] }, ptr %p, i64 0, i32 1, i64 2
  store ptr %p, ptr %q, align 8
  ret i32 %r
}
"""
MODELS = """\
# names: effects
f: returns 0, heap[0*1]; *1 <- 0..; @kept <- *0
g strdup*: calls 0(@kept, unknown) -> @kept; copy 0 <- 1[2]; escapes 0; nothing
shared: holds @kept, static, _
"""
SCHEME = """\
(import (scheme base) (scheme write))
(define-syntax twice (syntax-rules () ((_ e ...) (begin e ... e ...))))
(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define (f x . rest) (let loop ((i 0) (l '(1 #\\a "b" #(c) 1/2 -1.5e3 #u8(1 2))))
  (if (< i 3) (loop (+ i 1) `(,i ,@l)) l)))
(twice (display (call/cc (lambda (k) (dynamic-wind f (lambda () (k (apply f 1 '(2)))) f)))))
#| block |# #;(datum comment) (case-lambda ((a) a) ((a . b) b)) '#0=(a . #0#) |odd name|
"""
DATABASE = json.dumps(
    [
        {"directory": ".", "file": "a.c", "command": "cc -DX='a b' -I inc -std=c11 -c a.c -o a.o"},
        {"directory": ".", "file": "b.cc", "arguments": ["c++", "-x", "c++", "@words", "b.cc"]},
    ]
)
GRAPH = "5 4\n0 0 1 0 0\n1,1,2,1,1\n2 2 3 2 0\n\t3 4 2 3 1\n# a comment\n"
OCTAGONS = (
    "0 <= x <= 5, y - x <= 2.5e1",
    "x + y < 3; 2*x = -1/2 and `odd` >= [1, 2]x",
    "-(x) ≤ [0, inf]",
)
IR_SEED = ASSEMBLY


@dataclass(frozen=True)
class Target:
    """One format."""

    seeds: Callable[[], list[bytes]]
    case: Callable[[bytes], object]
    is_slow: bool = False  # a compiler, or LLVM, runs in each case
    is_native: bool = False  # compiled code reads the input: it might crash
    may_crash: bool = False  # LLVM itself runs in this process: `kleene.load` gives it its own


@cache
def _folder() -> Path:
    found = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    (found / "a.c").write_text("int main(void) { return 0; }\n")
    (found / "b.cc").write_text("int b;\n")
    (found / "words").write_text("-DY 'a b'\n")
    return found


@cache
def _built() -> tuple[bytes, bytes, bytes]:
    """Return the small program as bitcode, as assembly, and as bytes of the cache."""
    from kleene.frontends.c import reader
    from kleene.frontends.c.compiler import Options, find
    from kleene.frontends.c.exchange import Unit
    from kleene.frontends.c.linking import link
    from kleene.frontends.c.source import Source
    from kleene.ir.store import dumps

    (_folder() / "program.c").write_text(PROGRAM)
    source = Source(str(_folder() / "program.c"), "c")
    raw = find().compile(source, Options(), _folder(), _folder() / "program.bc")
    linked = link([Unit("program.c", "bitcode", True, raw)])
    return linked, ASSEMBLY.encode(), dumps(reader.read(linked))


# A project folder: names and contents from the input


NAMES = (
    "a.c",
    "-x.c",
    "@y.c",
    "b.cc",
    "c.h",
    "d.ll",
    "e.bc",
    "f.scm",
    "compile_commands.json",
    "g.o",
)


def _make_folder(data: bytes) -> Path:
    """Make a folder of what `data` says: a byte is the kind, a byte the name, a line the rest."""
    root = Path(tempfile.mkdtemp(prefix="fuzz-", dir=_folder()))
    for line in data.split(b"\n")[:12]:
        kind, number, rest = line[0:1], sum(line[1:2]), line[2:]
        name = (
            NAMES[number % len(NAMES)]
            if number < 200
            else os.fsdecode(rest.replace(b"/", b"")[:20] + b".c")
        )
        place = root / ("sub" if number & 16 else ".") / name.replace("\0", "_")
        try:
            place.parent.mkdir(exist_ok=True)
            if os.path.lexists(place):
                continue
            if kind == b"p":
                os.mkfifo(place)
            elif kind == b"l":
                place.symlink_to(os.fsdecode(rest.replace(b"\0", b"")) or "a.c")
            elif kind == b"d":
                place.mkdir()
            else:
                place.write_bytes(rest.replace(b"\r", b"\n"))
        except OSError:
            continue
    return root


def folder_seeds() -> list[bytes]:
    return [
        b"f\x00int main(void) { return 0; }\nf\x01int x;\nf\x02int y;\rint z;",
        b"p\x00\nl\x10../a.c\nf\x05(display 1)\nd\x03",
        b"f\xffint main(void) { return 0; }\nl\xc8loop.c\nf\x08[]",
    ]


def folder(data: bytes) -> None:
    """Which files did the user mean?"""
    from kleene.frontends import front_end_of
    from kleene.frontends.c.inputs import discover

    root = _make_folder(data)
    try:
        inputs = [str(root), *map(str, list(root.iterdir())[:3]), str(root / "*.c")]
        for one in inputs:
            try:
                front_end_of([one])
                discover([one], ("*", "!b*"))
            except SourceError as error:
                error.render()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def project(data: bytes) -> None:
    """A folder, compiled and linked."""
    import kleene

    root = _make_folder(data)
    try:
        kleene.load(root, cache=False)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def database(data: bytes) -> None:
    """A compilation database."""
    from kleene.frontends.c.database import entries

    path = _folder() / "compile_commands.json"
    path.write_bytes(data)
    for source in entries(str(path), ("*",)):
        for word in (*source.flags, source.file, source.directory or ""):
            assert b"\0" not in os.fsencode(word)


def bitcode(data: bytes) -> None:
    """Bitcode, read by our reader in this process."""
    from kleene.frontends.c import bitcode, reader
    from kleene.ir.verifier import problems

    bitcode.check("fuzz.bc", data)
    program = reader.read_given(data)
    if program is not None:
        assert not problems(program)


def llvm(form: str) -> Callable[[bytes], None]:
    def case(data: bytes) -> None:
        """Bitcode or assembly, read by LLVM as in its own process, then by our reader."""
        from kleene.frontends.c import bitcode, reader, worker
        from kleene.frontends.c.exchange import Unit

        if form == "bitcode":
            bitcode.check("fuzz.bc", data)
        try:
            raw, *_ = worker.build([Unit("fuzz", form, True, data)])  # type: ignore[arg-type]
        except UnicodeDecodeError:  # `worker.main` has words for it
            return
        reader.read(raw)

    return case


def process(data: bytes) -> None:
    """Assembly through the whole way, LLVM in its own process."""
    from kleene.frontends.c import reader
    from kleene.frontends.c.exchange import Unit
    from kleene.frontends.c.linking import link

    reader.read(link([Unit("fuzz.ll", "assembly", True, data)]))


@cache
def _program() -> object:
    from kleene.ir.store import loads

    return loads(_built()[2])


def models(data: bytes) -> None:
    """Models of functions outside, applied to a program that calls them."""
    from kleene.analyses.points_to import PointsTo

    path = _folder() / "models.txt"
    path.write_bytes(data)
    PointsTo(models=(str(path),)).constraints(_program())


def scheme(data: bytes) -> None:
    """A Scheme program; if it is short, its control flow and what is wrong with it."""
    from kleene.frontends import scheme

    core = scheme.parse(data, "fuzz.scm", _folder())
    if len(data) < 400:
        result = core.cfa(device="cpu")
        result.findings(may=True)
        result.to_json()


def graph(data: bytes) -> None:
    """An inclusion problem as text, solved if it is small."""
    from kleene.solvers.inclusion import solve
    from kleene.solvers.inclusion.text_graphs import read_text

    path = _folder() / "graph.txt"
    path.write_bytes(data)
    found = read_text(path)
    if found.n_nodes < 200:
        solve(found, device="cpu")


def problem(data: bytes) -> None:
    """A stored inclusion problem, solved if it is small."""
    from kleene.solvers.inclusion import solve
    from kleene.solvers.inclusion.storage import load

    path = _folder() / "problem.npz"
    path.write_bytes(data)
    found = load(path)
    if found.n_nodes < 200:
        solve(found, device="cpu")


def problem_seeds() -> list[bytes]:
    from kleene.solvers.inclusion.generate import points_to_like, van_horn_mairson
    from kleene.solvers.inclusion.storage import save

    found = []
    for one in (points_to_like(40, 60, 1), van_horn_mairson(4)):
        save(one, _folder() / "seed.npz")
        found.append((_folder() / "seed.npz").read_bytes())
    return found


def octagon(data: bytes) -> None:
    """Constraints as text; what is printed means the same when it is read again."""
    from kleene import Octagon
    from kleene.algebra.linear import constraints

    text = data.decode(errors="surrogateescape")
    found = constraints(text)
    again = tuple(constraint for one in found for constraint in constraints(str(one)))
    assert again == found, (found, again)
    if len(found) < 8 and len({name for one in found for name in one.linear.names()}) < 8:
        Octagon.of_constraints(text)


def cached(data: bytes) -> None:
    """A damaged cache: an entry reads as what was written, or as nothing."""
    from kleene.base.cache import Cache, key_of

    place, key = Cache(_folder() / "cache"), key_of("a")
    place.put("kind", key, b"payload")
    file = next(path for path in (_folder() / "cache").rglob("*") if path.is_file())
    file.write_bytes(data)
    assert place.get("kind", key) in (b"payload", None)


def ir(data: bytes) -> None:
    """The text form of programs."""
    from kleene.ir.text.parser import parse

    parse(data.decode(errors="replace"))


def cached_seeds() -> list[bytes]:
    from kleene.base.cache import Cache, key_of

    place = Cache(_folder() / "seeds")
    place.put("kind", key_of("a"), b"payload")
    place.put("kind", key_of("b"), b"others")
    return [path.read_bytes() for path in (_folder() / "seeds").rglob("*") if path.is_file()]


def ir_seeds() -> list[bytes]:
    from kleene.ir.text import dump

    return [dump(_program()).encode()]  # type: ignore[arg-type]


def _texts(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


TARGETS = {
    "assembly": Target(_texts(ASSEMBLY), llvm("assembly"), is_native=True, may_crash=True),
    "bitcode": Target(lambda: [_built()[0]], bitcode, is_native=True),
    "cache": Target(cached_seeds, cached),
    "database": Target(_texts(DATABASE), database),
    "folder": Target(folder_seeds, folder),
    "graph": Target(_texts(GRAPH), graph),
    "ir": Target(ir_seeds, ir),
    "llvm": Target(lambda: [_built()[0]], llvm("bitcode"), is_native=True, may_crash=True),
    "models": Target(_texts(MODELS, *MODELS.splitlines()), models),
    "octagon": Target(_texts(*OCTAGONS), octagon),
    "problem": Target(problem_seeds, problem, is_native=True),
    "process": Target(_texts(ASSEMBLY), process, is_slow=True),
    "project": Target(folder_seeds, project, is_slow=True),
    "scheme": Target(_texts(SCHEME, *SCHEME.splitlines()), scheme),
}
