"""The types of bit-row arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]  # n_rows x n_words, C-contiguous
Indices = NDArray[np.signedinteger[Any]]
