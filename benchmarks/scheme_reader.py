"""How fast does Scheme text become data, and the core?"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from cfa import LEVELS, van_horn_mairson_text
from harness import Measurement, Table, measure

from kleene.frontends.scheme import parse
from kleene.frontends.scheme.data import Form, Identifier
from kleene.frontends.scheme.reader import read
from kleene.ir.scheme.sources import Source, Sources
from kleene.kernels.compiled import interpreted

PROGRAMS = Path(__file__).parents[1] / "tests" / "programs" / "scheme"
# Chez prints how many data it read, and the least milliseconds of seven times.
CHEZ = """
(define text (call-with-port (open-input-file "{path}") get-string-all))
(define (once)
  (let ((port (open-input-string text)))
    (let loop ((n 0)) (if (eof-object? (read port)) n (loop (+ n 1))))))
(define (ms thunk)
  (let ((start (current-time 'time-monotonic)))
    (thunk)
    (let ((d (time-difference (current-time 'time-monotonic) start)))
      (+ (* 1e3 (time-second d)) (/ (time-nanosecond d) 1e6)))))
(display (once)) (newline)
(do ((i 0 (+ i 1))) ((= i 7)) (display (ms once)) (newline))
"""


def composed(n_lines: int) -> bytes:
    """Return a program of at least `n_lines`: test programs, each a procedure, over and over."""
    bodies = []
    for path in sorted(PROGRAMS.glob("*.scm")):
        text = path.read_bytes()
        sources = Sources()
        forms = [form for form in read(sources, sources.add(path.name, text)) if kept(form)]
        first, last = min(form.at for form in forms), max(form.end for form in forms)
        if b"(define-library" not in text:
            bodies.append(text[first:last])
    parts: list[bytes] = []
    while sum(part.count(b"\n") for part in parts) < n_lines:
        body = bodies[len(parts) % len(bodies)]
        parts.append(b"(define (program-%d)\n%s\n'done)\n" % (len(parts), body))
    return b"".join(parts)


def kept(form: object) -> bool:
    """Return whether a top-level form may stand in a procedure's body."""
    is_named = isinstance(form, Form) and bool(form.items) and isinstance(form.items[0], Identifier)
    return not (is_named and form.items[0].name in ("import", "define-library"))


def by_chez(text: bytes) -> tuple[Measurement, int] | None:
    """Return how long Chez Scheme takes to read the text, and how many data it finds."""
    chez = shutil.which("chezscheme") or shutil.which("scheme")
    if chez is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program, script = Path(folder, "program.scm"), Path(folder, "script.ss")
        program.write_bytes(text)
        script.write_text(CHEZ.format(path=program))
        command = [chez, "--script", str(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    n_data, *times_ms = map(float, done.stdout.split())
    times = sorted(time_ms / 1e3 for time_ms in times_ms)
    middle = times[len(times) // 2]
    return Measurement(times[-1], middle, times[0], times[-1]), int(n_data)


def main() -> None:
    table = Table("scheme_reader", __doc__ or "")
    for n_lines in (1_000, 11_000, 110_000):
        text = composed(n_lines)
        size = f"{text.count(bytes([10]))} lines, {len(text) / 1e6:.2f} MB"

        def source(text: bytes = text) -> tuple[Sources, Source]:
            sources = Sources()
            return sources, sources.add("composed.scm", text)

        ours = measure(lambda: read(*source()))
        chez = by_chez(text)
        table.row(
            input="text to data", size=size, ours=ours, MB_per_s=len(text) / ours.median_s / 1e6,
            rival="Chez Scheme's read" if chez else None, theirs=chez[0] if chez else None,
            agree=chez[1] == len(ours.result) if chez else None,
        )  # fmt: skip
        to_core(table, "text to core", text, size)
    text = van_horn_mairson_text(LEVELS[-1]).encode()
    size = f"{31 * LEVELS[-1] + 49:,} terms, {len(text) / 1e6:.2f} MB"
    to_core(table, "Van Horn-Mairson, text to core", text, size)
    table.save()


def to_core(table: Table, what: str, text: bytes, size: str) -> None:
    """Add the row of a text: as it is answered, and by plain Python alone."""
    with interpreted(False):  # as where machine code is there already
        ours = measure(lambda: parse(text))
    with interpreted():
        plain = measure(lambda: parse(text))
    table.row(
        input=what, size=size, ours=ours, MB_per_s=len(text) / ours.median_s / 1e6,
        rival="the expander alone", theirs=plain, rows=ours.result.n_rows,
        agree=bool(np.array_equal(ours.result.kind, plain.result.kind)),
    )  # fmt: skip


if __name__ == "__main__":
    main()
