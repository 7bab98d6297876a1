"""JSON is stable and knows NumPy's numbers."""

from __future__ import annotations

import json as standard
from pathlib import PurePosixPath

import numpy as np
import pytest

from kleene.base import json


def test_keys_are_sorted() -> None:
    assert (
        json.dumps({"b": 1, "a": 2}) == json.dumps({"a": 2, "b": 1}) == '{\n  "a": 2,\n  "b": 1\n}'
    )


def test_numpy_and_sets_become_plain() -> None:
    value = {
        "scalar": np.int32(3),
        "flag": np.bool_(True),
        "column": np.arange(3, dtype=np.uint8),
        "set": {"b", "a"},
        "path": PurePosixPath("a/b"),
    }
    assert standard.loads(json.dumps(value)) == {
        "scalar": 3,
        "flag": True,
        "column": [0, 1, 2],
        "set": ["a", "b"],
        "path": "a/b",
    }


@pytest.mark.parametrize(("value", "error"), [(object(), TypeError), (float("nan"), ValueError)])
def test_what_json_cannot_say_is_refused(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        json.dumps(value)


def test_the_text_is_that_of_the_standard_library() -> None:
    shared = ["a", "ü\n", 1, None, True, 1.5, 10**20]
    value = {
        "empty": [[], {}, (), {"a": {}}],
        "shared": [shared, shared, {"deeper": shared}],
        "mixed": [1, [2, ["x"]], {"b": [], "a": (1, 2)}],
        "": "plain",
    }
    assert json.dumps(value) == standard.dumps(value, sort_keys=True, indent=2)
    assert json.dumps({2: 1, 10: 2}) == standard.dumps({2: 1, 10: 2}, sort_keys=True, indent=2)
    for single in (1, "a", None, [], {}):
        assert json.dumps(single) == standard.dumps(single)


def test_arrays_in_lists_are_written_as_lists() -> None:
    value = {"columns": [np.arange(2), np.arange(2, 4)], "none": np.empty(0)}
    assert standard.loads(json.dumps(value)) == {"columns": [[0, 1], [2, 3]], "none": []}
