"""Linear subscripts are taken apart by strides that divide each other."""

from __future__ import annotations

import pytest

from kleene.base.expression import Expression, of
from kleene.ir.loops.symbols import LoopSymbol
from kleene.offload.delinearise import delinearised, strides_of

i, j, k = (of(LoopSymbol(name, 0, "counter", frozenset([n]))) for n, name in enumerate("ijk"))
n, m = of(LoopSymbol("n")), of(LoopSymbol("m"))


@pytest.mark.parametrize(
    ("subscript", "parts", "extents"),
    [
        (i * n + j, [i, j], [n]),
        (i * n * m + j * m + k - 1, [i, j, k - 1], [n, m]),
        (i * (n + 1) + j, [i, j], [n + 1]),  # a padded row
        (i * n + m, [i, m], [n]),
        (4 * i * n + 6 * j * n + k, [2 * i + 3 * j, k], [2 * n]),
        ((i - 1) * n + j, [i - 1, j], [n]),
    ],
)
def test_parts(subscript: Expression, parts: list[Expression], extents: list[Expression]) -> None:
    found = delinearised([subscript])
    assert found is not None
    assert [list(one) for one in found[0]] == [parts]
    assert list(found[1]) == extents


@pytest.mark.parametrize("subscript", [10 * i + j, i * n + j * m, i * j + k, i * i * n + j])
def test_what_has_no_chain_of_strides(subscript: Expression) -> None:
    assert delinearised([subscript]) is None


def test_coefficients_that_differ_by_a_factor_share_a_stride() -> None:
    assert strides_of([of(1), -6 * n, 4 * n, of(0)]) == [2 * n, of(1)]
    assert strides_of([n, m]) is None
