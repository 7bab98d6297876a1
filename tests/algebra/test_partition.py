"""Partition are what a dictionary of them says, and copies do not change each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kleene.algebra.partition import Component, Kinds, Partition
from kleene.kernels import minplus

NAMES = [f"v{k}" for k in range(6)]
GROUPS = st.sets(st.sampled_from(NAMES), min_size=1).map(lambda names: tuple(sorted(names)))
STEPS = st.one_of(
    st.tuples(st.just("put"), GROUPS),
    st.tuples(st.just("drop"), st.sampled_from(NAMES)),
    st.tuples(st.just("copy"), st.none()),
    st.tuples(st.just("tidied"), st.none()),
)


def component_of(names):
    return Component(names, minplus.top(len(names), np.int64), 1, Kinds(True, False))


def without(model, names):
    """Return a model without the components that have some of these variables."""
    gone = {id(model[name]) for name in names if name in model}
    return {name: component for name, component in model.items() if id(component) not in gone}


@given(st.lists(STEPS))
def test_blocks_are_a_dictionary(steps):
    made, model, before = Partition(), {}, []
    for verb, what in steps:
        if verb == "put":
            component = component_of(what)
            made.put(component)
            model = without(model, what) | dict.fromkeys(what, component)
        elif verb == "drop":
            made.drop(what)
            model = without(model, [what])
        else:
            before.append((made, model))
            made = made.copy() if verb == "copy" else made.tidied().copy()
    for components, expected in [*before, (made, model)]:
        assert [components.get(name) for name in NAMES] == [expected.get(name) for name in NAMES]
        assert [name in components for name in NAMES] == [name in expected for name in NAMES]
        assert sorted(components.names()) == sorted(expected)
        assert sorted(map(id, components)) == sorted(
            {id(component) for component in expected.values()}
        )


def test_slots_of_components_that_are_gone_are_few():
    components = Partition()
    for _ in range(10):
        components.put(component_of(("x", "y")))
        components.put(component_of(("x",)))
        components.put(component_of(("y",)))
        components = components.tidied().copy()
    assert len(components.parts) <= 6
