"""The host runner gets correct kernels right and finds every planted fault."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from kleene.kernels import launch
from kleene.kernels.launch import host
from kleene.kernels.launch.host import KernelError

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))

SEEDS = (0, 1, 2)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def good(request):
    with launch.on_host(request.param):
        yield launch.load(HERE / "good.cu")


@pytest.fixture
def planted():
    with launch.on_host():
        yield launch.load(HERE / "planted.cu")


def ints(*shape):
    return np.zeros(shape, np.int32)


def test_block_reduction(good):
    values = np.arange(256, dtype=np.int32) ** 2
    sums = ints(4)
    good.launch("block_sum", (4,), (64,), (values, sums))
    assert np.array_equal(sums, values.reshape(4, 64).sum(1))


def test_defines_reach_the_kernel():
    values, sums = np.arange(256, dtype=np.int32), ints(2)
    with launch.on_host():
        launch.load(HERE / "good.cu", BLOCK=128).launch("block_sum", (2,), (128,), (values, sums))
    assert np.array_equal(sums, values.reshape(2, 128).sum(1))


def test_warp_shuffle_reduction(good):
    values, sums = np.arange(96, dtype=np.int32), ints(3)
    good.launch("warp_sums", (1,), (96,), (values, sums))
    assert np.array_equal(sums, values.reshape(3, 32).sum(1))


def test_lanes_and_votes(good):
    values = np.array([i * i % 7 for i in range(32)], np.int32)
    out, votes = ints(3, 32), np.zeros(5, np.uint32)
    good.launch("lanes", (1,), (32,), (values, out, votes))
    assert np.array_equal(out[0], np.r_[values[:1], values[:-1]])
    segments = values.reshape(4, 8)
    assert np.array_equal(out[1].reshape(4, 8), np.c_[segments[:, 1:], segments[:, -1:]])
    assert (out[2] == values[3]).all()
    odd = sum(1 << lane for lane in range(32) if values[lane] & 1)
    assert votes.tolist() == [odd, 0, 1, (values == values[0]).sum(), values.max()]


def test_part_of_a_warp(good):
    out = ints(32)
    good.launch("half_warp", (1,), (32,), (out,))
    assert out.tolist() == [15] * 16 + [0] * 16


def test_syncwarp_orders_memory(good):
    values, out = np.arange(32, dtype=np.int32), ints(32)
    good.launch("warp_rotate", (1,), (32,), (values, out))
    assert np.array_equal(out, np.roll(values, -1))


def test_dynamic_shared_memory_and_atomics_on_it(good):
    values = np.arange(200, dtype=np.int32) * 7 % 13
    bins = np.zeros(13, np.uint32)
    args = (values, np.int32(200), bins, np.int32(13))
    good.launch("histogram", (4,), (64,), args, shared_bytes=13 * 4)
    assert np.array_equal(bins, np.bincount(values, minlength=13))


def test_atomics(good):
    i = np.array([0, 99, -1, 0, 0, 0], np.int32)
    u = np.array([0, 2**64 - 1, 0, 0], np.uint64)
    good.launch("atomics", (2,), (32,), (i, u))
    xor = np.bitwise_xor.reduce(np.arange(64))
    assert i.tolist() == [sum(range(64)), 0, 63, 7, -64, xor]
    assert u.tolist() == [2**64 - 1, 0, 5, 64 << 40]


def test_barriers_that_count(good):
    flags, out = np.arange(50, dtype=np.int32) % 3, ints(3)
    good.launch("votes", (1,), (50,), (flags, out))
    assert out.tolist() == [np.count_nonzero(flags), 1, 0]


def test_three_dimensions(good):
    out = ints(2 * 3 * 4, 2 * 3 * 4)
    good.launch("places", (2, 3, 4), (4, 3, 2), (out,))
    expected = [100 * x + 10 * y + z for z in range(2) for y in range(3) for x in range(4)]
    assert (out == expected).all()


def test_neighbouring_bytes_are_not_one_word(good):
    out = np.zeros(64, np.uint8)
    good.launch("bytes", (1,), (64,), (out,))
    assert out.tolist() == list(range(64))


def test_shared_memory_in_templates(good):
    a, b = np.ones(32, np.float32), np.full(32, 2.0)
    good.launch("twice_each", (1,), (32,), (a, b))
    assert (a == 2).all()
    assert (b == 4).all()


def test_bit_counts(good):
    values = np.array([0, 1, 1 << 63, 0xFF00], np.uint64)
    out = ints(4, 4)
    good.launch("bit_counts", (1,), (4,), (values, out))
    assert out.tolist() == [[0, 0, 64, 32], [1, 1, 63, 31], [1, 64, 0, 32], [8, 9, 48, 16]]


def test_a_stated_race_is_no_fault(good):
    values, found = np.full(64, -1, np.int32), ints(1)
    good.launch("any_negative", (1,), (64,), (values, found))
    assert found[0] == 1


def values_of(*counts):
    return [np.arange(count, dtype=np.int32) for count in counts]


FAULTS = [
    ("no_barrier", 1, 64, (64, 64), "RACE", "shared memory, byte"),
    ("read_then_write", 1, 64, (64,), "RACE", "race on values, byte"),
    ("two_blocks", 2, 1, (1,), "RACE", "block 0 thread 0 writes"),
    ("atomic_and_plain", 1, 2, (2,), "RACE", "updates (marked)"),
    ("barrier_is_not_grid_wide", 2, 32, (2,), "RACE", "block 1 thread"),
    ("vote_is_no_barrier", 1, 32, (32,), "RACE", "shared memory"),
    ("past_the_end", 1, 64, (64, 64), "BOUNDS", "outside values, byte 256"),
    ("before_the_start", 1, 1, (64,), "BOUNDS", "outside out, byte -4"),
    ("past_shared", 1, 64, (64,), "BOUNDS", "dynamic shared memory, byte 128"),
    ("left_early", 1, 64, (64,), "BARRIER", "thread 32 has left the kernel"),
    ("two_barriers", 1, 64, (64,), "BARRIER", "waits at a block barrier at line"),
    ("lane_elsewhere", 1, 32, (32,), "BARRIER", "thread 5 waits at a block barrier"),
    ("not_in_mask", 1, 32, (32,), "BARRIER", "thread 1 waits at a warp intrinsic"),
    ("unset", 1, 32, (1,), "UNINITIALISED", "before any thread wrote it"),
    ("traps", 1, 32, (32,), "TRAP", "thread 3 trapped"),
]


@pytest.mark.parametrize(("kernel", "grid", "block", "counts", "fault", "says"), FAULTS)
def test_planted_fault_is_found(planted, kernel, grid, block, counts, fault, says):
    shared = 32 * 4 if kernel == "past_shared" else 0
    with pytest.raises(KernelError) as caught:
        planted.launch(kernel, (grid,), (block,), values_of(*counts), shared_bytes=shared)
    assert caught.value.fault.name == fault
    assert str(caught.value).startswith(f"{kernel}: ")
    assert says in str(caught.value)


@pytest.mark.tools
@pytest.mark.skipif(shutil.which("addr2line") is None, reason="addr2line is not installed")
def test_a_race_names_both_source_lines(planted):
    with pytest.raises(KernelError) as caught:
        planted.launch("no_barrier", (1,), (64,), values_of(64, 64))
    lines = (HERE / "planted.cu").read_text().splitlines()
    written = 1 + lines.index("  tile[threadIdx.x] = values[threadIdx.x];")
    read = 1 + lines.index("  out[threadIdx.x] = tile[63 - threadIdx.x];")
    assert f"planted.cu:{written}" in str(caught.value)
    assert f"planted.cu:{read}" in str(caught.value)


def test_the_runner_works_again_after_a_fault(planted):
    for _ in range(3):
        with pytest.raises(KernelError):
            planted.launch("left_early", (1,), (64,), values_of(64))
    out = values_of(64)
    planted.launch("past_shared", (1,), (32,), out, shared_bytes=32 * 4)
    assert (out[0][:32] == 1).all()


@pytest.mark.parametrize(
    "args",
    [
        (np.zeros(64, np.int32),),
        (np.zeros(64, np.int64), np.zeros(64, np.int32)),
        (np.zeros(64, np.int32), np.int32(1)),
        (np.zeros(128, np.int32)[::2], np.zeros(64, np.int32)),
        (np.zeros(64, np.int32), 1),
    ],
    ids=["too-few", "wrong-type", "scalar-for-array", "strided", "python-int"],
)
def test_arguments_are_checked(planted, args):
    with pytest.raises(ValueError, match="no_barrier"):
        planted.launch("no_barrier", (1,), (64,), args)


def test_an_unknown_kernel_and_a_huge_block_are_refused(planted):
    with pytest.raises(ValueError, match="no kernel nothing"):
        planted.launch("nothing", (1,), (64,), ())
    with pytest.raises(ValueError, match="1 to 1024"):
        planted.launch("two_blocks", (1,), (2048,), values_of(1))


def test_a_syntax_error_is_reported(tmp_path):
    path = tmp_path / "broken.cu"
    path.write_text('extern "C" __global__ void f(int* a) { a[0] = ; }\n')
    with launch.on_host(), pytest.raises(ValueError, match=r"broken\.cu:1"):
        launch.load(path)
