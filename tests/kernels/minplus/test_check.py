"""Arguments that do not fit are refused by name, before compiled code sees them."""

import numpy as np
import pytest

from kleene.kernels import minplus

M = minplus.top(2, np.int32)
OTHER = minplus.top(3, np.int32)
ENDS = np.array([0, 1])
ONE = np.array([0, 12])


def locked():
    m = M.copy()
    m.flags.writeable = False
    return m


FAULTS = {
    "not of int8": lambda: minplus.close(M.astype(np.int8)),
    "contiguous vector": lambda: minplus.close(M[::2]),
    "no octagon has 11": lambda: minplus.close(M[:11].copy()),
    "writeable": lambda: minplus.close(locked()),
    "differ in type or size": lambda: minplus.join(M, M, OTHER),
    "int32 of 12 elements, int64": lambda: minplus.includes(M, M.astype(np.int64)),
    "no variable 2 among 2": lambda: minplus.forget(M, 2),
    "no variable -1": lambda: minplus.assign(M, 0, -1, up=0, down=0),
    "rows has an element outside 0..3": lambda: minplus.add(M, ENDS + 3, ENDS, ENDS.astype("i4")),
    "bounds must be a vector of 2": lambda: minplus.close_after(M, ENDS, ENDS, M[:1]),
    "rows must be a vector of 2 elements of int64": lambda: minplus.add(
        M, ENDS.astype("i4"), ENDS, M[:2]
    ),
    "thresholds must ascend": lambda: minplus.widen(M, M, M, np.array([2, 1], np.int32)),
    "out must be a vector of 4": lambda: minplus.unary(M, M),
    "variables has an element outside -1..1": lambda: minplus.select(M, M, np.array([0, 2])),
    "out must be a vector of 12 elements of bool": lambda: minplus.minimal(M, M),
    "do not cut 12 elements": lambda: minplus.close(M, np.array([0, 4, 11])),
    "do not cut 12 elements into octagons": lambda: minplus.close(M, np.array([0, 12, 4])),
    "variable has an element that its": lambda: minplus.forget(M, ENDS[:1] + 2, offsets=ONE),
    "starts do not cut": lambda: minplus.add(
        M, ENDS, ENDS, M[:2], offsets=ONE, starts=np.array([0, 3])
    ),
    "a batch takes `starts`": lambda: minplus.add(M, ENDS, ENDS, M[:2], offsets=ONE),
    "negate must be": lambda: minplus.assign(
        M, ENDS[:1], ENDS[:1], up=M[:1], down=M[:1], negate=ENDS[:1], offsets=ONE
    ),
}


@pytest.mark.parametrize("message", FAULTS)
def test_is_refused(message):
    before = M.copy()
    with pytest.raises(ValueError, match=message):
        FAULTS[message]()
    assert np.array_equal(M, before)
