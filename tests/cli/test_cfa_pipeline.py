"""`kleene cfa --pipeline eigencfa` gives the same answers, or says what its language lacks."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Kleene
from tests.transforms.scheme.running import PROGRAMS


def test_both_pipelines_print_the_same(kleene: Kleene) -> None:
    path = next(path for path in PROGRAMS if path.stem == "state_machine")
    questions = ("--flows", "state", "--calls", "12:12", "--every-call")
    ours = kleene("cfa", path, *questions, "--pipeline", "eigencfa")
    assert ours.returncode == 0
    assert "idle at state_machine.scm:2:1" in ours.stdout
    assert ours.stdout == kleene("cfa", path, *questions).stdout


def test_what_has_no_form_is_refused(kleene: Kleene, tmp_path: Path) -> None:
    path = tmp_path / "t.scm"
    path.write_text("(define (f x) (cons x x))\n(map f '(1))\n", encoding="utf-8")
    done = kleene("cfa", path, "--every-call", "--pipeline", "eigencfa")
    assert done.returncode == 1
    assert "t.scm:1:16: error[cps/no-form]: cons works on data" in done.stderr
    assert "t.scm:2:2: error[cps/no-form]: map calls procedures" in done.stderr


def test_every_call_is_asked_for(kleene: Kleene) -> None:
    done = kleene("cfa", PROGRAMS[0], "--pipeline", "eigencfa")
    assert done.returncode == 1
    assert "error[cfa/bad-pipeline]" in done.stderr
    assert "--every-call" in done.stderr
