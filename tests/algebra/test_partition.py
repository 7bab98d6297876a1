"""Blocks are what a dictionary of them says, and copies do not change each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kleene.algebra.partition import Block, Blocks, Kinds
from kleene.kernels import minplus

NAMES = [f"v{k}" for k in range(6)]
GROUPS = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda names: tuple(sorted(names)))
STEPS = st.one_of(
    st.tuples(st.just("put"), GROUPS),
    st.tuples(st.just("drop"), st.sampled_from(NAMES)),
    st.tuples(st.just("copy"), st.none()),
    st.tuples(st.just("tidied"), st.none()),
)


def block_of(names):
    return Block(names, minplus.top(len(names), np.int64), 1, Kinds(True, False))


def without(model, names):
    """Return a model without the blocks that have some of these variables."""
    gone = {id(model[name]) for name in names if name in model}
    return {name: block for name, block in model.items() if id(block) not in gone}


@given(st.lists(STEPS))
def test_blocks_are_a_dictionary(steps):
    made, model, before = Blocks(), {}, []
    for verb, what in steps:
        if verb == "put":
            block = block_of(what)
            made.put(block)
            model = without(model, what) | dict.fromkeys(what, block)
        elif verb == "drop":
            made.drop(what)
            model = without(model, [what])
        else:
            before.append((made, model))
            made = made.copy() if verb == "copy" else made.tidied().copy()
    for blocks, expected in [*before, (made, model)]:
        assert [blocks.get(name) for name in NAMES] == [expected.get(name) for name in NAMES]
        assert [name in blocks for name in NAMES] == [name in expected for name in NAMES]
        assert sorted(blocks.names()) == sorted(expected)
        assert sorted(map(id, blocks)) == sorted({id(block) for block in expected.values()})


def test_places_of_blocks_that_are_gone_are_few():
    blocks = Blocks()
    for _ in range(10):
        blocks.put(block_of(("x", "y")))
        blocks.put(block_of(("x",)))
        blocks.put(block_of(("y",)))
        blocks = blocks.tidied().copy()
    assert len(blocks.parts) <= 6
