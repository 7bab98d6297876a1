"""Problems survive files; what is damaged or wrong is refused, with its place."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from kleene.base.errors import SourceError
from kleene.solvers.inclusion import Problem, reference
from kleene.solvers.inclusion.generate import points_to_like
from kleene.solvers.inclusion.storage import load, save
from kleene.solvers.inclusion.text_graphs import read_text
from tests.solvers.inclusion.strategies import problems


def same(left: Problem, right: Problem) -> bool:
    mine, theirs = left.columns(), right.columns()
    equal = all(np.array_equal(mine[name], theirs[name]) for name in mine)
    return equal and left.n_nodes == right.n_nodes


@given(problem=problems())
def test_a_problem_comes_back(problem: Problem, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("problems") / "problem.npz"
    save(problem, path)
    again = load(path)
    assert same(again, problem)
    assert all(column.dtype == np.int32 for column in again.columns().values())


def test_files_are_compact(tmp_path: Path) -> None:
    problem = points_to_like(20_000, 21_000, seed=1)
    save(problem, tmp_path / "problem.npz")
    plain_bytes = sum(column.nbytes for column in problem.columns().values())
    assert (tmp_path / "problem.npz").stat().st_size < 0.6 * plain_bytes


def test_damaged_files_are_refused_or_whole(tmp_path: Path) -> None:
    """A flipped bit is found, or was in a byte that means nothing; a cut file is always found."""
    path = tmp_path / "problem.npz"
    problem = points_to_like(300, 320, seed=1)
    save(problem, path)
    raw = path.read_bytes()
    rng = random.Random(0)
    n_refused = 0
    for number in range(300):
        damaged = bytearray(raw)
        if number % 3:
            damaged[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        else:
            del damaged[rng.randrange(len(raw)) :]
        path.write_bytes(damaged)
        found = outcome(path)
        if isinstance(found, Problem):
            assert same(found, problem)
        else:
            assert found.id in ("inclusion/bad-file", "inclusion/bad-format")
            assert str(found).startswith(f"{path}: error")
            n_refused += 1
    assert n_refused > 200


def outcome(path: Path) -> Problem | SourceError:
    try:
        return load(path)
    except SourceError as error:
        return error


def test_files_without_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, head=np.array([1, 3]))
    with pytest.raises(SourceError, match="no inclusion problem of format 4"):
        load(path)
    with zipfile.ZipFile(path, "w") as archive:
        buffer = io.BytesIO()
        np.save(buffer, np.array([print]), allow_pickle=True)
        archive.writestr("head.npy", buffer.getvalue())
    with pytest.raises(SourceError, match="damaged"):
        load(path)
    with pytest.raises(SourceError, match="cannot be read") as caught:
        load(tmp_path / "absent.npz")
    assert caught.value.id == "inclusion/unreadable"
    with pytest.raises(SourceError, match="cannot be written") as caught:
        save(Problem(1), tmp_path)
    assert caught.value.id == "inclusion/cannot-write"


def test_files_with_an_impossible_problem(tmp_path: Path) -> None:
    bad = Problem(1, copy_destination=np.array([0], np.int32), copy_source=np.array([5], np.int32))
    save(bad, tmp_path / "bad.npz")
    with pytest.raises(SourceError, match="copy_source: row 0 holds 5"):
        load(tmp_path / "bad.npz")


def read(tmp_path: Path, text: str) -> Problem:
    path = tmp_path / "graph.txt"
    path.write_text(text, encoding="utf-8")
    return read_text(path)


# x, y, z, b are 0 to 3; a is 4 with the fields 5 and 6.
WORKED = """7 5
# x = &a; y = x; b = *y; z = x + 2; *z = b
0 4 0 0 0
1 0 1 1 0

2 1 3 2 0
3 0 2 1 2
4 3 2 3 0
"""


def test_the_worked_example_as_text(tmp_path: Path) -> None:
    answer = reference.solve(read(tmp_path, WORKED))
    assert [answer.of(node).tolist() for node in range(4)] == [[4], [4], [6], []]


@pytest.mark.parametrize("ending", ["\r\n", "\n", "\n\n"])
@pytest.mark.parametrize("blank", [" ", ",", "\t", ", "])
def test_blanks_commas_and_line_ends(tmp_path: Path, blank: str, ending: str) -> None:
    text = WORKED.replace("\n", ending).replace(" ", blank)
    assert same(read(tmp_path, text), read(tmp_path, WORKED))


def test_offsets_of_loads_and_stores_share_a_node(tmp_path: Path) -> None:
    """p = &s; *(p + 1) = q; q = &t; r = *(p + 1); u = &s + 1."""
    p, q, r, u, s, t = 0, 1, 2, 3, 4, 6
    text = f"7 5\n0 {s} {p} 0 0\n1 {q} {p} 3 1\n2 {t} {q} 0 0\n3 {p} {r} 2 1\n4 {s} {u} 0 1\n"
    problem = read(tmp_path, text)
    assert problem.n_nodes == 8
    answer = reference.solve(problem)
    assert answer.of(7).tolist() == [s + 1]
    assert answer.of(r).tolist() == [t]
    assert answer.of(u).tolist() == [s + 1]
    assert answer.of(s).tolist() == []


def test_where_objects_end(tmp_path: Path) -> None:
    """Variables 2 and 5 have their address taken, and the largest offset is 1."""
    problem = read(tmp_path, "8 3\n0 2 0 0 0\n1 5 1 0 0\n2 0 0 1 1\n")
    assert problem.allocation_offsets.tolist() == [0, 1, 2, 4, 5, 7, 8]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the first line has two numbers: variables and constraints"),
        ("# only a remark\n3\n", 2, 1, "the first line has two numbers: variables and constraints"),
        ("2 1\n0 0 1 x 0\n", 2, 7, "a number is due here"),
        ("2 1\n0 0 1 1 0a\n", 2, 10, "a number is due here"),
        ("2 1\n0 0 - 1 0\n", 2, 6, "a number is due here"),
        ("2 1\n0 0 1 1\n", 2, 1, "4 numbers, but a constraint has five"),
        ("2 2\n0 0 1 1 0\n", 1, 1, "2 constraints are promised, 1 follow"),
        ("2 1\n0 2 1 1 0\n", 2, 3, "the source is 2: one of 2 variables is due"),
        ("2 1\n0  0,\t-1 1 0\n", 2, 7, "the destination is -1: one of 2 variables is due"),
        ("2 1\n\n0 0 1 4 0\n", 3, 7, "the type is 4: a type from 0 to 3 is due"),
        ("2 1\n0 0 1 1 -3\n", 2, 9, "the offset is -3: an offset from 0"),
        ("2 1\n0 0 1 0 2\n", 2, 9, "the offset is 2: an offset from 0"),
        ("2 1\n0 0 99999999999999999999 1 0", 2, 5, "the destination is 99999999999999999999: "),
    ],
)
def test_wrong_text(tmp_path: Path, text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(tmp_path, text)
    error = caught.value
    assert error.id == "inclusion/bad-text"
    assert error.span is not None
    assert (error.span.line, error.span.column) == (line, column)
    assert error.message.startswith(message)


def test_an_absent_text_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_text(tmp_path / "absent.txt")
