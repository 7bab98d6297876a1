"""Why checks of whole programs are open: `causes.c` has a planted cause in each function."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import InvariantsResult

SOURCE = Path(__file__).with_name("causes.c")
EXPECTED = re.compile(r"// expect (\w+): ([\w-]+): (.*)")
LINES = SOURCE.read_text().splitlines()
CAUSES = [
    (number, *found.groups())
    for number, line in enumerate(LINES, 1)
    if (found := EXPECTED.search(line))
]
ORIGINS = {
    line.rsplit("// origin ", 1)[1]: number
    for number, line in enumerate(LINES, 1)
    if "// origin " in line
}
PLACE = re.compile(r"\b([\w.-]+\.[ch]):(\d+)\b")


@pytest.fixture(scope="module")
def result() -> InvariantsResult:
    """The program, all functions together."""
    return load(SOURCE).invariants(whole_program=True)


@pytest.mark.parametrize(("line", "word", "kind", "says"), CAUSES, ids=[one[1] for one in CAUSES])
def test_the_planted_cause_is_named(
    result: InvariantsResult, line: int, word: str, kind: str, says: str
) -> None:
    (lost,) = {
        one.lost
        for one in result.check_results([kind])
        if one.span is not None and one.span.line == line and not one.is_proved
    }
    assert says in lost
    if word in ORIGINS:
        assert f"causes.c:{ORIGINS[word]}" in lost


def test_there_are_many_kinds_of_causes() -> None:
    assert len(CAUSES) >= 20
    assert len({kind for _, _, kind, _ in CAUSES}) >= 9


def test_every_sentence_names_lines_that_exist(result: InvariantsResult) -> None:
    checks = [one for one in result.checks if not one.is_proved]
    assert all(one.lost for one in checks)
    places = [found for one in checks for found in PLACE.findall(one.lost)]
    assert len(places) >= len(CAUSES)
    for file, line in places:
        assert file == SOURCE.name
        assert LINES[int(line) - 1].strip()


def test_origins_count_each_open_check_once(result: InvariantsResult) -> None:
    counts = Counter(one.kind.value for one in result.checks if not one.is_proved)
    origins = result.origins()
    total: Counter[str] = Counter()
    for one in origins:
        total.update(one.counts)
        if one.place is not None:
            file, line = one.place
            assert os.path.basename(file) == SOURCE.name
            assert 0 < line <= len(LINES)
    assert total == counts
    assert [one.n_checks for one in origins] == sorted(
        (one.n_checks for one in origins), reverse=True
    )
    plain = result.as_json(SOURCE.parent)
    assert [sum(one["checks"].values()) for one in plain["origins"]] == [  # type: ignore[index, attr-defined]
        one.n_checks for one in origins
    ]


def test_the_largest_origin_is_what_many_checks_have(tmp_path: Path) -> None:
    file = tmp_path / "many.c"
    file.write_text(
        """
        int any(void);
        static int table[4], where;
        static int one(void) { return table[where]; }
        static int two(void) { return table[where] + table[where + 1]; }
        int main(void) { where = any(); return one() & two(); }
        """
    )
    (first, *_) = load(file).invariants(whole_program=True, checks=["bounds"]).origins()
    assert first.text == "what any returns, of which nothing more is known"
    assert first.counts == {"bounds": 3}
    assert first.place is not None
    assert first.place[1] == 6


def test_parameters_of_a_library_may_be_anything(tmp_path: Path) -> None:
    file = tmp_path / "library.c"
    file.write_text("static int table[4];\nint entered(int i) {\n  return table[i];\n}\n")
    (check,) = load(file).invariants(whole_program=True, checks=["bounds"]).check_results()
    says = "the parameter 'i' of entered may be anything: code outside may call entered"
    assert check.lost == f"0 <= offset is not known: {says}"


def test_functions_by_themselves_have_no_origins() -> None:
    assert load(SOURCE).invariants(functions=["result"]).origins() == []
