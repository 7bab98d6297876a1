"""Questions that tables answer a column at a time."""

from __future__ import annotations

import numpy as np

from kleene.ir.tables import Strings


def test_symbols_that_begin_with_some_bytes() -> None:
    texts = [b"", b"_Z", b"_ZTV", b"_ZTV3Dog", b"_ZTI3Dog", b"main", b"_"]
    strings = Strings.of(texts)
    symbols = np.array([6, 3, 0, 2, 5, 4, 1, 3], np.int32)
    for prefix in (b"", b"_", b"_Z", b"_ZTV", b"main!"):
        expected = [texts[symbol].startswith(prefix) for symbol in symbols]
        assert strings.begin_with(symbols, prefix).tolist() == expected
    assert strings.begin_with(symbols[:0], b"_Z").tolist() == []
