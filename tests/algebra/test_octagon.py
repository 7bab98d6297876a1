"""The worked examples, the forms of a value, and what is refused."""

import json
import pickle
import xml.etree.ElementTree
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given

from kleene import Device, Interval, Octagon, SourceError, Zone
from kleene.algebra import Lattice, Precision, Widening, variables
from kleene.algebra.memory import plan
from tests.algebra.dense import run
from tests.algebra.test_dense import kinds


def test_closing_combines_bounds():
    octagon = Octagon.of_constraints("x <= 5, y - x <= 2")
    assert octagon.bound("y").high == 7
    assert octagon.bound("x + y") == (-inf, 12)


def test_integers_are_tightened():
    assert Octagon.of_constraints("2x <= 3").bound("x").high == 1
    assert Octagon.of_constraints("2x <= 3", reals="x").bound("x").high == Fraction(3, 2)
    assert Octagon.of_constraints("x + y <= 1/2, x - y <= 0", "x >= 0").bound("y") == (0, 0)


def test_a_contradiction_is_empty():
    octagon = Octagon.of_constraints("x <= 1, x >= 2")
    assert octagon.is_bottom()
    assert octagon == Octagon.bottom("x")
    assert hash(octagon) == hash(Octagon.bottom("x"))
    assert octagon.bound("x") == (inf, -inf)
    assert octagon.satisfies("x == 7")


@pytest.mark.parametrize("domain", [Octagon, Zone])
def test_a_loop(domain):
    """i = 0; n >= 0; while (i < n) i = i + 1;"""
    head = domain.top("i n").assign("i", 0).meet("n >= 0")
    while True:
        after = head.meet("i < n").assign("i", "i + 1")
        wider = head.widen(head.join(after))
        if wider <= head:
            break
        head = wider
    assert head.meet("i >= n").satisfies("i == n, i >= 0")
    assert head.meet("i < n") == domain.of_constraints("0 <= i <= n - 1")


def test_intervals_cannot_prove_the_loop():
    head = Interval.of_constraints("i >= 0, n >= 0")
    assert not head.meet("i >= n").satisfies("i == n")


def test_a_join_finds_relations():
    a, b = Octagon.of_constraints("x == 0, y == 0"), Octagon.of_constraints("x == 1, y == 1")
    assert a | b == Octagon.of_constraints("0 <= x <= 1, 0 <= y <= 1, x == y")
    assert (a | b).exactness.precision is Precision.BEST
    apart = a.join(b, relate=False)
    assert apart == Octagon.of_constraints("0 <= x <= 1, 0 <= y <= 1")
    assert apart.exactness.precision is Precision.OVER


def test_missing_variables_have_no_bounds():
    a, b = Octagon.of_constraints("x == 1"), Octagon.of_constraints("x == 2, y == 0")
    assert a | b == Octagon.of_constraints("1 <= x <= 2", integers="y")
    assert a & b == Octagon.bottom("x y")
    assert a.meet(Octagon.of_constraints("y >= x")).bound("y").low == 1


def test_thresholds():
    a, b = Octagon.of_constraints("0 <= x <= 1"), Octagon.of_constraints("0 <= x <= 2")
    assert a.widen(b).bound("x") == (0, inf)
    assert a.widen(b, thresholds=[8, 5]).bound("x") == (0, 5)
    real = Octagon.of_constraints("0 <= x <= 1/3", reals="x")
    wider = real.widen(Octagon.of_constraints("0 <= x <= 1/2", reals="x"), thresholds=[2 / 3])
    assert wider.bound("x") == (0, Fraction(2 / 3))


def test_what_widening_keeps_is_not_closed():
    """Closed, each of the two bounds would come back through the other, and grow for ever."""
    names = {"reals": "x y z"}
    value = Octagon.of_constraints("-1 <= x - y <= 1, -1 <= x - z <= 1, -2 <= y - z <= 2", **names)
    for step in range(8):
        ends = [value.bound("x - y").high, value.bound("x - z").high]
        if ends == [inf, inf]:
            break
        ends[step % 2] += 1
        grown = Octagon.top(**names).meet("-2 <= y - z <= 2")
        for name, end in zip("yz", ends, strict=True):
            grown = grown if end == inf else grown.meet(f"-{end} <= x - {name} <= {end}")
        value = value.widen(grown)
    assert value == Octagon.of_constraints("-2 <= y - z <= 2", **names)


def test_exactness_says_why():
    octagon = Octagon.top("x y z")
    assert octagon.meet("x - y <= 3").exactness.precision is Precision.EXACT
    loose = octagon.meet("0 <= y <= 1").meet("2x - y <= 3")
    assert loose.exactness.precision is Precision.OVER
    assert "2*x" in loose.exactness.why
    assert loose.bound("x").high == 2
    strict = Octagon.top(reals="t").meet("t < 1")
    assert strict.exactness.precision is Precision.OVER
    assert Octagon.top("t").meet("t < 1").exactness.precision is Precision.EXACT
    mixed = Octagon.top("x", reals="t").meet("x - t <= 0")
    assert mixed.exactness.precision is Precision.OVER
    assert Octagon.top("x", floats=True).meet("x <= 1").exactness.precision is Precision.OVER


def test_what_is_left_of_a_mixed_block_is_tightened():
    mixed = Octagon.top("x y", reals="t").meet("2x <= 1 + 2t, t <= 1/3, y == x")
    left = mixed.forget("t")
    assert left.bound("x").high == 0
    assert left.satisfies("x == y")


def test_constraints_as_objects():
    x, y = variables("x y")
    assert Octagon.top("x y").meet([x - y <= 3, *y.equals(2)]).bound("x").high == 5
    assert Octagon.top("x y").meet(x < y, y <= 4).bound("x").high == 3


def test_boxes():
    box = Octagon.of_box({"x": (0, 2.5), "y": (-inf, 3)}, reals="x")
    assert box.to_box() == {"x": (0, Fraction(5, 2)), "y": (-inf, 3)}
    assert Octagon.of_box({"x": (2, 1)}).is_bottom()
    assert Octagon.of_box({"x": (inf, inf)}).is_bottom()
    assert Octagon.top("x").is_top()
    assert not box.is_top()


def test_assignments_of_fractions_to_integers_leave_nothing():
    assert Octagon.top("x y").assign("x", "y + 1/2").is_bottom()
    assert Octagon.top("x y").assign("x", "y + [1/2, 3/2]").satisfies("x == y + 1")
    assert Octagon.of_constraints("0 <= y <= 5", integers="x").assign("x", "y/2").bound("x") == (
        0,
        2,
    )


def test_conversions_between_domains():
    octagon = Octagon.of_constraints("0 <= x <= 2, x + y <= 3, x - y <= 1")
    zone, box = Zone.of(octagon), Interval.of(octagon)
    assert zone.satisfies("x - y <= 1, y <= 3")
    assert not zone.satisfies("x + y <= 3")
    assert str(box) == "{0 <= x <= 2, -1 <= y <= 3}"
    assert Octagon.of(zone) >= octagon
    assert Zone.of(Octagon.bottom("x")).is_bottom()
    assert Octagon.of(octagon) is octagon


def test_rename_and_project():
    octagon = Octagon.of_constraints("x - y <= 3, z == 1")
    assert octagon.rename({"x": "y", "y": "x"}) == Octagon.of_constraints("y - x <= 3, z == 1")
    assert octagon.project("z") == Octagon.of_constraints("z == 1")
    assert octagon.extend("u", reals="t").variables == {**octagon.variables, "u": True, "t": False}


def test_a_builder_changes_in_place_and_its_origin_does_not():
    origin = Octagon.of_constraints("x - y <= 3")
    text = str(origin)
    builder = origin.builder()
    builder.meet("y <= 1")
    builder.set("x", "x + 1")
    builder.set({"x": "y", "y": "x"})
    made = builder.build()
    assert made == origin.meet("y <= 1").assign("x", "x + 1").assign({"x": "y", "y": "x"})
    assert str(origin) == text
    with pytest.raises(AttributeError):
        builder.meet("x <= 0")


def test_values_keep_the_protocol():
    def grown(value: Widening, other: Widening) -> Lattice:
        return value.widen(value.join(other))

    assert grown(Octagon.of_constraints("x == 0"), Octagon.of_constraints("x == 1")) == (
        Octagon.of_constraints("x >= 0")
    )


def test_text():
    octagon = Octagon.of_constraints("x <= 5, y - x <= 2, 0 <= a + b <= 1, c == 3, d >= -1")
    assert str(octagon) == "{c == 3, -1 <= d, x <= 5, 0 <= a + b <= 1, y - x <= 2}"
    assert repr(Octagon.top("x")) == "<Octagon {}>"
    assert str(Octagon.bottom("x")) == "{false}"


def test_latex():
    octagon = Octagon.of_constraints("x - long_name <= 1/2, x == 3/2", reals="x long_name")
    assert octagon.to_latex() == r"1 \le \mathit{long\_name} \land x = \frac{3}{2}"
    assert Octagon.top("x").to_latex() == r"\top"
    assert Octagon.bottom("x").to_latex() == r"\bot"


def test_a_picture():
    octagon = Octagon.of_constraints("0 <= x <= 4, 0 <= y <= 4, x + y <= 6")
    root = xml.etree.ElementTree.fromstring(octagon.picture("x", "y"))
    (polygon,) = root.iter("{http://www.w3.org/2000/svg}polygon")
    assert len(polygon.get("points").split()) == 5
    open_ended = Octagon.of_constraints("x - y <= 0")
    cut = open_ended.picture("x", "y", view=(0, 1, 0, 1))
    assert len(cut.split('points="')[1].split('"')[0].split()) == 3
    assert 'points=""' in Octagon.bottom("x y").picture("x", "y")


def test_a_drawing():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    Octagon.of_constraints("0 <= x <= 4, x == y").draw("x", "y", axes)
    assert axes.get_xlabel() == "x"
    pyplot.close(figure)


@given(kinds())
def test_json_and_bytes(kind):
    program, reals = kind
    octagon, _ = run(program, 4, reals=reals)
    assert Octagon.of_json(octagon.to_json()) == octagon
    assert Octagon.of_bytes(octagon.to_bytes()) == octagon


@given(kinds())
def test_values_travel_between_processes(kind):
    program, reals = kind
    octagon, _ = run(program, 4, reals=reals)
    again = pickle.loads(pickle.dumps(octagon))
    assert again == octagon
    assert again.assign("v", "w + 1") == octagon.assign("v", "w + 1")


def test_json_of_floats():
    octagon = Octagon.top(reals="x y", floats=True).meet("x + 3*y/3 <= 1/3, x >= 1e300")
    again = Octagon.of_json(octagon.to_json())
    assert again == octagon
    assert again.is_float


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(version=99), "no value of this version"),
        (lambda data: data.update(domain="Zone"), "a value of 'Zone', not of 'Octagon'"),
        (lambda data: data["components"][0]["cells"].pop(), "have 12 cells, not 11"),
        (lambda data: data["components"][0].update(scale=0), "a component is malformed"),
        (lambda data: data["components"][0].update(names=7), "a component is malformed"),
        (lambda data: data.pop("components"), "malformed: 'components'"),
    ],
)
def test_bad_data_is_refused(change, words):
    data = json.loads(Octagon.of_constraints("x - y <= 3").to_json())
    change(data)
    with pytest.raises(SourceError, match=words) as caught:
        Octagon.of_json(json.dumps(data))
    assert caught.value.id == "algebra/bad-data"


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"", "these bytes are no value of Kleene's"),
        (b"kleene-octagon\nxx", "the bytes are damaged: "),
        (b"{}", "these bytes are no value of Kleene's"),
    ],
)
def test_bad_bytes_are_refused(packed, message):
    with pytest.raises(SourceError, match=message) as caught:
        Octagon.of_bytes(packed)
    assert caught.value.id == "algebra/bad-data"


X_AT_MOST_1 = [[0, inf], [2, 0]]


@pytest.mark.parametrize(
    ("matrix", "id", "message"),
    [
        ([[0, 1]], "bad-matrix", "1 variables take a matrix of 2 rows and columns"),
        ([[0, 1], [1]], "bad-matrix", "1 variables take a matrix of 2 rows and columns"),
        ([[0, float("nan")], [1, 0]], "bad-number", "nan is not a number"),
        ([[0, -inf], [1, 0]], "bad-number", "entry [0][1] is minus infinity"),
    ],
)
def test_bad_matrices_are_refused(matrix, id, message):
    assert Octagon.of_matrix("x", X_AT_MOST_1).bound("x").high == 1
    with pytest.raises(SourceError) as caught:
        Octagon.of_matrix("x", matrix)
    assert (caught.value.id, caught.value.message) == (f"algebra/{id}", message)


def test_an_incoherent_matrix_is_refused():
    square = Octagon.of_constraints("x - y <= 3").to_matrix()
    square[0][2] = 1
    with pytest.raises(SourceError, match="differ") as caught:
        Octagon.of_matrix("x y", square)
    assert caught.value.id == "algebra/bad-matrix"


def test_a_negative_diagonal_is_empty():
    assert Octagon.of_matrix("x", [[-1, 2], [2, -1]]).is_bottom()


NO_U = "there is no variable 'u'"
MIXED = "the two values are of different domains, or one has exact bounds, one floats"


@pytest.mark.parametrize(
    ("operation", "id", "message"),
    [
        (lambda o: o.meet("u <= 3"), "unknown-variable", NO_U),
        (lambda o: o.assign("u", 1), "unknown-variable", NO_U),
        (lambda o: o.assign("x", "u"), "unknown-variable", NO_U),
        (lambda o: o.forget("u"), "unknown-variable", NO_U),
        (lambda o: o.project("u"), "unknown-variable", NO_U),
        (lambda o: o.rename({"u": "v"}), "unknown-variable", NO_U),
        (lambda o: o.bound("u"), "unknown-variable", NO_U),
        (lambda o: o.satisfies("u <= 1"), "unknown-variable", NO_U),
        (lambda o: o.to_matrix("u"), "unknown-variable", NO_U),
        (lambda o: o.picture("u", "x"), "unknown-variable", NO_U),
        (
            lambda o: o.meet("x + 2y <= 3", strict=True),
            "not-representable",
            "constraint: the domain has no bounds on 1*x + 2*y",
        ),
        (
            lambda o: o.assign("x", "2x", strict=True),
            "not-representable",
            "assignment to x: the domain has no bounds on 2*x",
        ),
        (
            lambda o: Zone.of(o).meet("x + y <= 3", strict=True),
            "not-representable",
            "constraint: the domain has no bounds on 1*x + 1*y",
        ),
        (lambda o: o.rename({"x": "y"}), "bad-variables", "two variables would have one name"),
        (lambda o: Octagon.top("x x"), "bad-variables", "a variable is named twice"),
        (lambda o: Octagon.top("x", reals="x"), "bad-variables", "a variable is named twice"),
        (
            lambda o: o.join(Octagon.top(reals="x")),
            "bad-variables",
            "'x' is an integer in one value and a real in the other",
        ),
        (lambda o: o.join(Zone.top("x")), "mixed-domains", MIXED),
        (lambda o: o.meet(Octagon.top("x", floats=True)), "mixed-domains", MIXED),
        (lambda o: Octagon.of_box({"x": (0, float("nan"))}), "bad-number", "nan is not a number"),
        (lambda o: o.widen(o, thresholds=[float("nan")]), "bad-number", "nan is not a number"),
    ],
)
def test_misuse_is_named(operation, id, message):
    with pytest.raises(SourceError) as caught:
        operation(Octagon.of_constraints("0 <= x <= 1, y >= x"))
    assert (caught.value.id, caught.value.message) == (f"algebra/{id}", message)


def test_the_plan_says_where_and_why():
    assert plan(8, Device.AUTO)[0] is Device.CPU
    assert "8 variables" in plan(8, Device.AUTO)[1]
    assert plan(2048, Device.CPU) == (Device.CPU, "asked for")
    assert Octagon.of_constraints("x <= 1", device="auto").bound("x").high == 1


def test_a_device_that_cannot_be_used_is_refused(monkeypatch):
    monkeypatch.setattr("kleene.kernels.launch.gpu_problem", lambda: "no GPU answers")
    refused = "is no device for octagons: ask for 'cpu', 'cuda' or 'auto'"
    for device, why in (
        ("cuda", "no GPU answers"),
        ("hybrid", f"'hybrid' {refused}"),
        ("gpu", f"'gpu' {refused}"),
    ):
        with pytest.raises(SourceError) as caught:
            Octagon.top("x", device=device)
        assert (caught.value.id, caught.value.message) == ("algebra/no-device", why)
