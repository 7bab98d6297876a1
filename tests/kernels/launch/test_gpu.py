"""Without a GPU, asking for one is an error that says why; with one, the test kernels run on it."""

from pathlib import Path

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.kernels import launch

PROBLEM = launch.gpu_problem()


@pytest.mark.skipif(PROBLEM is None, reason="a GPU answers here")
def test_no_gpu_is_reported_with_the_reason():
    with pytest.raises(SourceError) as caught:
        launch.current()
    assert caught.value.id == "kernels/no-gpu"
    assert PROBLEM in caught.value.message


@pytest.mark.gpu
@pytest.mark.skipif(PROBLEM is not None, reason=f"no GPU: {PROBLEM}")
def test_shared_memory_and_barriers_on_the_gpu():
    place = launch.current()
    module = launch.load(Path(__file__).with_name("good.cu"))
    values = np.arange(256, dtype=np.int32) ** 2
    sums = place.xp.zeros(4, np.int32)
    module.launch("block_sum", (4,), (64,), (place.xp.asarray(values), sums))
    assert sums.get().tolist() == values.reshape(4, 64).sum(1).tolist()
    bins = place.xp.zeros(13, np.uint32)
    args = (place.xp.asarray(values % 13), np.int32(256), bins, np.int32(13))
    module.launch("histogram", (4,), (64,), args, shared_bytes=13 * 4)
    assert bins.get().tolist() == np.bincount(values % 13, minlength=13).tolist()
