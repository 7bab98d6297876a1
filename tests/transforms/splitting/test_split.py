"""Live-range splitting: the paper's examples, and random functions run beside their split form."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.transforms.splitting import STRATEGIES, NameKind, Points, Strategy, Where, split
from tests.seeds import seeds
from tests.transforms.splitting.checking import check_property
from tests.transforms.splitting.executing import check_path
from tests.transforms.splitting.functions import Code, Function, parsed, random_function, text_of

CLASSES = """
    1: v = -> 2
    2: i -> 3 5
    3: tmp = i -> 4
    4: v tmp -> 7
    5: v = -> 6
    6: v -> 7
    7: v
"""
SUM = """
    i: i s = -> test
    test: i -> body end ? i
    body: i = i -> add
    add: s = s i -> test
    end: s
"""


def split_text(text: str, strategy: str | Strategy, variable: str) -> list[str]:
    function, variables, _ = parsed(text)
    names = split(function.flow, function.accesses(), strategy)
    lines = text_of(function, names, variables)
    return [line for line in lines if line.startswith(variable)]


def test_a_strategy_that_there_is_not() -> None:
    function, _, _ = parsed("1: v = -> 2\n2: v")
    with pytest.raises(SourceError, match="there is no strategy 'esa'") as error:
        split(function.flow, function.accesses(), "esa")
    assert error.value.id == "splitting/no-such-strategy"


def test_class_inference_splits_where_uses_part_and_meet() -> None:
    assert split_text(CLASSES, "ssu", "v") == [
        "v1 at 0",
        "v2 = σ(v1) at 1→2",
        "v3 = copy(v2) at 3",
        "v4 at 4",
        "v5 = copy(v4) at 5",
        "v6 = φ(v3,v5) at 6",
    ]


def test_ssi_needs_one_phi_only_where_the_last_use_post_dominates() -> None:
    assert split_text(CLASSES, "ssi", "v") == ["v1 at 0", "v2 at 4", "v3 = φ(v1,v2) at 6"]


def test_a_loop_gets_the_version_of_its_back_edge() -> None:
    constants = """
        1: a = -> 2
        2: b = -> 3
        3: b -> 4 6
        4: c = a -> 5
        5: b = b c -> 3
        6:
    """
    assert split_text(constants, "ssa", "b") == ["b1 at 1", "b2 = φ(b1,b3) at 2", "b3 at 4"]


def test_taint_is_split_by_the_check() -> None:
    taint = """
        0: -> 1 2
        1: v = -> 3
        2: v = -> 4
        3: v -> 5
        4: v -> 5
        5: v -> 6 7 ? v
        6: v
        7: v
    """
    assert split_text(taint, "essa", "v") == [
        "v1 at 1",
        "v2 at 2",
        "v3 = φ(v1,v2) at 5",
        "v4 = σ(v3) at 5→6",
        "v5 = σ(v3) at 5→7",
    ]


def test_null_pointers_are_split_behind_each_dereference() -> None:
    null = """
        1: v = -> 2 4
        2: v -> 3
        3: v -> 4
        4: v
    """
    assert split_text(null, "null", "v") == [
        "v1 at 0",
        "v2 = copy(v1) at 1",
        "v3 = copy(v2) at 2",
        "v4 = φ(v1,v3) at 3",
    ]


def test_ranges_are_split_by_the_loop_condition_and_dead_exits_are_not() -> None:
    assert split_text(SUM, "essa", "i") == [
        "i1 at 0",
        "i2 = φ(i1,i4) at 1",
        "i3 = σ(i2) at 1→2",
        "i4 at 2",
    ]
    assert split_text(SUM, "essa", "s") == ["s1 at 0", "s2 = φ(s1,s3) at 1", "s3 at 3"]
    with_exit = SUM.replace("end: s", "end: s i")
    assert "i4 = σ(i2) at 1→4" in split_text(with_exit, "essa", "i")


def test_definitions_and_uses_that_meet_are_linked_through_one_phi() -> None:
    k = 50
    arms = [[Code(defines=(0,))] for _ in range(k)]
    uses = [[Code(uses=(0,))] for _ in range(k)]
    edges = [(0, 1 + arm) for arm in range(k)]
    edges += [(1 + arm, k + 1) for arm in range(k)] + [(k + 1, k + 2 + arm) for arm in range(k)]
    function = Function([[], *arms, [], *uses], edges)
    names = split(function.flow, function.accesses(), "ssa")
    assert names.n_names == k + 1
    n_links = len(names.operands) + int((names.name[function.accesses().role == 1] >= 0).sum())
    assert n_links == 2 * k


def test_mixed_directions_split_after_uses_too() -> None:
    assert split_text(SUM, "stephenson", "i") == [
        "i1 at 0",
        "i2 = φ(i1,i6) at 1",
        "i3 = copy(i2) at 1",
        "i4 = σ(i3) at 1→2",
        "i5 at 2",
        "i6 = copy(i5) at 3",
    ]


def test_what_is_learnt_backwards_at_a_fork_splits_where_all_ways_lead_to_the_use() -> None:
    """The use post-dominates the fork: only that the fork was asked for makes names meet again."""
    function, _, _ = parsed("1: v = -> 2 3\n2: -> 4\n3: -> 4\n4: v")
    flow, accesses = function.flow, function.accesses()
    points = Points.of(up=[(0, flow.out_of(0))])
    names = split(flow, accesses, points)
    assert names.kind.tolist() == [NameKind.PROGRAM, NameKind.PHI, NameKind.SIGMA, NameKind.SIGMA]
    assert names.operands_of(1) == [2, 3]
    assert check_property(flow, accesses, points, names) > 0


def test_a_critical_edge_has_a_name_of_its_own() -> None:
    critical = """
        A: v = -> B C ? v
        B: -> C
        C: v
    """
    assert split_text(critical, "essa", "v") == [
        "v1 at 0",
        "v2 = σ(v1) at 0→1",
        "v3 = σ(v1) at 0→2",
        "v4 = φ(v3,v2) at 2",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("endless", "a: v = -> b\nb: v = v -> b ? v"),
        ("several exits", "a: v = -> b c ? v\nb: v\nc: v -> d e ? v\nd: v\ne: v"),
        ("self loop", "a: v = -> b\nb: v -> b c ? v\nc: v"),
        ("dead block", "a: v = -> b\nd: v -> b\nb: v"),
        ("twice to one block", "a: v = -> b b ? v\nb: v"),
    ],
)
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_odd_control_flow(name: str, text: str, strategy: str) -> None:
    function, _, _ = parsed(text)
    names = split(function.flow, function.accesses(), strategy)
    rng = np.random.default_rng(0)
    assert sum(check_path(function, names, rng, 12) for _ in range(8)) > 0


def random_points(rng: np.random.Generator, function: Function) -> Points:
    n_points = function.flow.at_end_of(0)

    def pairs() -> list[tuple[int, int]]:
        return [tuple(map(int, rng.integers((3, n_points)))) for _ in range(rng.integers(0, 6))]

    return Points.of(pairs(), pairs())


def test_every_use_reads_what_its_variable_was() -> None:
    cases = seeds(250, deep=4000)
    n_compared = 0
    for seed in cases:
        rng = np.random.default_rng(seed)
        function = random_function(rng, int(rng.integers(2, 12)))
        strategy = rng.choice(sorted(STRATEGIES))
        chosen = random_points(rng, function) if seed % 3 == 0 else str(strategy)
        names = split(function.flow, function.accesses(), chosen)
        n_compared += sum(check_path(function, names, rng, 40) for _ in range(6))
    assert n_compared > 15 * len(cases)


def test_the_property_of_static_single_information_holds() -> None:
    cases = seeds(100, deep=4000)
    n_seen = 0
    for seed in cases:
        rng = np.random.default_rng(seed)
        function = random_function(rng, int(rng.integers(2, 12)))
        flow, accesses = function.flow, function.accesses()
        strategy = STRATEGIES[str(rng.choice(sorted(STRATEGIES)))]
        points = random_points(rng, function) if seed % 3 == 0 else strategy.points(flow, accesses)
        n_seen += check_property(flow, accesses, points, split(flow, accesses, points))
    assert n_seen > 5 * len(cases)


def test_the_name_at_a_point_is_the_one_that_a_use_there_reads() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        function = random_function(rng)
        accesses = function.accesses()
        names = split(function.flow, accesses, "stephenson")
        for row in accesses.rows(1).tolist():
            variable, point = int(accesses.variable[row]), int(accesses.point[row])
            assert names.name_at(variable, point) == names.name[row]


def test_last_uses_are_those_after_which_a_variable_is_dead() -> None:
    function, variables, _ = parsed("1: v = -> 2\n2: v -> 3 4\n3: v\n4: v = -> 5\n5:")
    points = Strategy(up=frozenset({Where.LAST_USES})).points(function.flow, function.accesses())
    assert points.up_point.tolist() == [2]
    assert variables == {"v": 0}


@pytest.mark.parametrize("strategy", ["essa", "ssi", "null", "stephenson"])
def test_threads_find_the_names_of_one(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[split.__module__], "_WORTH_A_THREAD", 1)
    for seed in range(10):
        function = random_function(np.random.default_rng(seed), n_blocks=20, n_variables=9)
        accesses = function.accesses()
        alone = split(function.flow, accesses, strategy)
        for threads in (2, 3, 20):
            found = split(function.flow, accesses, strategy, threads=threads)
            for column in ("variable", "kind", "point", "offsets", "operands", "name"):
                ours, theirs = getattr(found, column), getattr(alone, column)
                assert np.array_equal(ours, theirs), (seed, threads, column)
                assert ours.dtype == theirs.dtype
