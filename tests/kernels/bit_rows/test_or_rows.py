"""`or_rows` agrees with its reference on every back end, and obeys its laws."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.device import Device
from kleene.kernels import bit_rows, launch
from kleene.kernels.bit_rows import cpu, cuda, reference
from kleene.kernels.launch import host


@dataclass
class Round:
    rows: np.ndarray
    delta: np.ndarray
    sources: np.ndarray
    destinations: np.ndarray

    def apply(self, device, picked=slice(None)):
        """Return rows, fresh bits and changed rows after the picked pairs."""
        rows, fresh = self.rows.copy(), np.zeros_like(self.rows)
        args = (rows, self.delta, self.sources[picked], self.destinations[picked], fresh)
        changed = (
            reference.or_rows(*args) if device is None else bit_rows.or_rows(*args, device=device)
        )
        return rows, fresh, changed.tolist()


def random_bits(random, shape, density):
    bits = random.random((*shape, 64)) < density
    return np.packbits(bits, axis=-1).view(np.uint64).reshape(shape)


@st.composite
def rounds(draw):
    """Small rounds; few widths, since each power of two is one more CUDA module to compile."""
    n_rows, n_deltas = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    n_words = draw(st.sampled_from([1, 3, 33, 70]))
    ends = st.tuples(st.integers(0, n_deltas - 1), st.integers(0, n_rows - 1))
    pairs = draw(st.lists(ends, max_size=40))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.0, 0.01, 0.5, 1.0]))
    index = np.array(pairs, draw(st.sampled_from([np.int32, np.int64]))).reshape(-1, 2)
    return Round(
        rows=random_bits(random, (n_rows, n_words), density * draw(st.sampled_from([0, 1]))),
        delta=random_bits(random, (n_deltas, n_words), density),
        sources=index[:, 0].copy(),
        destinations=index[:, 1].copy(),
    )


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@given(rounds())
def test_agrees_with_a_loop_over_the_pairs(device, case):
    rows, fresh, changed = case.apply(device)
    expected = case.rows.copy()
    for source, destination in zip(case.sources, case.destinations, strict=True):
        expected[destination] |= case.delta[source]
    assert np.array_equal(rows, expected)
    assert np.array_equal(fresh, expected & ~case.rows)
    assert changed == [r for r in range(len(rows)) if (expected[r] != case.rows[r]).any()]


@given(rounds())
def test_agrees_with_reference(device, case):
    assert same(case.apply(device), case.apply(None))


@given(rounds())
def test_applying_twice_brings_nothing_new(device, case):
    rows, _, _ = case.apply(device)
    again = Round(rows, case.delta, case.sources, case.destinations)
    rows_again, fresh, changed = again.apply(device)
    assert np.array_equal(rows_again, rows)
    assert not fresh.any()
    assert changed == []


@given(rounds(), st.integers(0, 40))
def test_more_pairs_never_fewer_bits(device, case, n_pairs):
    fewer, _, some = case.apply(device, slice(n_pairs))
    more, _, all_of_them = case.apply(device)
    assert not (fewer & ~more).any()
    assert set(some) <= set(all_of_them)


@given(rounds(), st.randoms(use_true_random=False))
def test_the_order_of_pairs_is_irrelevant(device, case, random):
    order = random.sample(range(len(case.sources)), len(case.sources))
    assert same(case.apply(device, np.array(order, int)), case.apply(device))


def test_fresh_bits_are_added_to_those_there(device):
    case = Round(*(np.array([[word]], np.uint64) for word in (1, 3)), *np.zeros((2, 1), np.int32))
    fresh = np.array([[8]], np.uint64)
    run = reference.or_rows if device is None else bit_rows.or_rows
    where = {} if device is None else {"device": device}
    run(case.rows, case.delta, case.sources, case.destinations, fresh, **where)
    assert fresh[0, 0] == 8 | 2


def large_round(n_words=40, n_pairs=3000):
    random = np.random.default_rng(7)
    ends = random.integers(0, 50, (2, n_pairs))
    bits = random_bits(random, (2, 50, n_words), 0.01)
    return Round(bits[0], bits[1], ends[0], ends[1])


def test_many_pairs_meet_in_few_rows(device):
    case = large_round()
    assert same(case.apply(device), case.apply(None))


@pytest.mark.parametrize("n_owners", [1, 2, 3, 16])
def test_owners_share_the_work_without_loss(n_owners):
    case = large_round()
    rows, fresh, changed = case.rows.copy(), np.zeros_like(case.rows), np.zeros(50, bool)
    cpu._or_parallel(rows, case.delta, case.sources, case.destinations, fresh, changed, n_owners)
    assert same((rows, fresh, np.flatnonzero(changed)), case.apply(None))


def test_few_pairs_among_many_rows(device):
    rows = np.zeros((400, 1), np.uint64)
    ends = np.array([[0, 1, 1], [399, 7, 7]], np.int32)
    case = Round(rows, np.array([[5], [0]], np.uint64), ends[0], ends[1])
    assert case.apply(device)[2] == [399]


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
@pytest.mark.parametrize("seed", range(1, 6))
def test_any_schedule_gives_the_same_answer(seed):
    case = large_round(n_words=3, n_pairs=400)
    with launch.on_host(seed):
        assert same(case.apply(Device.CUDA), case.apply(None))


@pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
def test_the_stated_race_is_seen_when_not_stated(tmp_path, monkeypatch):
    kernel = tmp_path / "bit_rows.cu"
    kernel.write_text(cuda._SOURCE.read_text().replace("volatile ", ""))
    monkeypatch.setattr(cuda, "_SOURCE", kernel)
    with launch.on_host(), pytest.raises(host.KernelError, match="race on rows"):
        large_round().apply(Device.CUDA)


BAD = {
    "rows": np.zeros((2, 3), np.int64),
    "delta": np.zeros((2, 4), np.uint64),
    "fresh": np.zeros((3, 3), np.uint64),
    "sources": np.array([0, 2], np.int32),
    "destinations": np.array([0, -1], np.int32),
}


@pytest.mark.parametrize("name", BAD)
def test_misuse_is_refused(name):
    bits = {key: np.zeros((2, 3), np.uint64) for key in ("rows", "delta", "fresh")}
    pairs = {key: np.array([0, 1], np.int32) for key in ("sources", "destinations")}
    assert bit_rows.or_rows(**bits, **pairs).tolist() == []
    with pytest.raises(ValueError, match=name):
        bit_rows.or_rows(**{**bits, **pairs, name: BAD[name]})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sources": np.zeros(2, np.int64)}, "both"),
        ({"sources": np.zeros(3, np.int32)}, "one length"),
        ({"sources": np.zeros(4, np.int32)[::2]}, "contiguous"),
        ({"delta": np.zeros((3, 2), np.uint64).T}, "C-contiguous"),
    ],
)
def test_ill_fitting_arrays_are_refused(changes, says):
    args = {key: np.zeros((2, 3), np.uint64) for key in ("rows", "delta", "fresh")}
    args |= {key: np.zeros(2, np.int32) for key in ("sources", "destinations")}
    with pytest.raises(ValueError, match=says):
        bit_rows.or_rows(**{**args, **changes})


def test_overlapping_and_read_only_arrays_are_refused():
    rows, fresh, pairs = np.zeros((2, 3), np.uint64), np.zeros((2, 3), np.uint64), np.zeros(2, int)
    with pytest.raises(ValueError, match="share memory"):
        bit_rows.or_rows(rows, rows, pairs, pairs, fresh)
    frozen = rows.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        bit_rows.or_rows(frozen, rows, pairs, pairs, fresh)


def test_auto_stays_on_the_cpu_and_says_why(monkeypatch):
    rows = np.zeros((2, 3), np.uint64)
    monkeypatch.setattr(launch, "gpu_problem", lambda: "the dog ate it")
    assert bit_rows.choose(10**9, rows) == (Device.CPU, "the dog ate it")
    monkeypatch.setattr(launch, "gpu_problem", lambda: None)
    chosen, reason = bit_rows.choose(10, rows)
    assert chosen is Device.CPU
    assert "30 words" in reason
    assert bit_rows.choose(10**9, np.broadcast_to(rows[:1], (10**8, 3)))[0] is Device.CPU
    monkeypatch.setattr(launch, "gpu_free_bytes", lambda: 1 << 20)
    assert bit_rows.choose(10**9, rows)[0] is Device.CUDA
    large = np.broadcast_to(rows[:1, :1], (1 << 20, 1))
    chosen, reason = bit_rows.choose(10**9, large)
    assert chosen is Device.CPU
    assert reason == "needs 24 MiB, the GPU has 1 MiB free"


@pytest.mark.gpu
@pytest.mark.skipif(launch.gpu_problem() is not None, reason=f"no GPU: {launch.gpu_problem()}")
def test_arrays_on_the_gpu_stay_there():
    xp, case = launch.current().xp, large_round()
    there = [xp.asarray(a) for a in (case.rows, case.delta, case.sources, case.destinations)]
    fresh = xp.zeros_like(there[0])
    with pytest.raises(ValueError, match="on the GPU"):
        bit_rows.or_rows(*there, fresh, device=Device.CPU)
    with pytest.raises(ValueError, match="only"):
        bit_rows.or_rows(*there, fresh.get(), device=Device.CUDA)
    with pytest.raises(ValueError, match="share memory"):
        bit_rows.or_rows(there[0], there[0], *there[2:], fresh, device=Device.CUDA)
    changed = bit_rows.or_rows(*there, fresh, device=Device.AUTO)
    assert isinstance(changed, xp.ndarray)
    found = (there[0].get(), fresh.get(), changed.get())
    assert same(found, case.apply(None))


def test_auto_runs():
    case = large_round()
    assert same(case.apply(Device.AUTO), case.apply(None))
