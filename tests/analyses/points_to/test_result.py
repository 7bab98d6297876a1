"""The questions a points-to result takes, on small programs whose answers are plain."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.points_to import ANALYSIS, PointsTo, PointsToResult
from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.results import CallKind
from kleene.results.call_graph import OUTSIDE
from tests.analyses.points_to.compiled import solved

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="module")
def program() -> Program:
    return kleene.load(EXAMPLES / "events")


@pytest.fixture(scope="module")
def events(program: Program) -> PointsToResult:
    result: PointsToResult = program.points_to(device="cpu")
    return result


def test_a_program_offers_the_analysis_by_its_name(program: Program) -> None:
    assert ANALYSIS is PointsTo
    assert PointsTo.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert program.points_to.__doc__ == PointsTo.__doc__
    assert not hasattr(program, "no_such_analysis")
    assert not hasattr(program, "_points_to")
    with pytest.raises(AttributeError, match="no attribute 'point_to'"):
        program.point_to()
    with pytest.raises(TypeError, match="nonsense"):
        program.points_to(nonsense=True)


def test_sets_are_sets_of_named_objects(events: PointsToResult) -> None:
    held = events.of("main.handle")
    assert held == {"ignore", "on_key", "on_click", "complain"}
    assert held != {"ignore"}
    assert "on_key" in held
    assert "redraw" not in held
    assert len(held) == 4
    assert not held.unknown
    assert str(held) == "{ignore, on_key, on_click, complain}"
    (first, *_) = held
    assert (first.name, first.kind, first.location) == ("ignore", "function", "handlers.c:21")
    window = next(iter(events.of("redraw.context")))
    assert (window.kind, window.type) == ("global", "struct.window")
    assert {o.name for o in held & events.of("fallback")} == {"ignore", "complain"}


def test_equal_sets_are_equal_whoever_solved_them(program: Program) -> None:
    cpu, other = (PointsTo().run(program, device="cpu", threads=n) for n in (1, 2))
    assert cpu.of("main.handle") == other.of("main.handle")
    assert hash(cpu.of("first")) == hash(other.of("first"))


def test_the_plan_is_announced_before_the_solve(program: Program) -> None:
    said: list[str] = []
    result = PointsTo().run(program, announce=lambda plan: said.append(str(plan)))
    assert said == [result.solution.plan] or said[0].split(";")[0] in result.solution.plan
    assert [phase.name for phase in result.phases] == ["constraints", "solve"]


def test_who_points_to_storage(events: PointsToResult) -> None:
    names = events.pointed_by("heap@queue.c:15:25")
    assert {"first", "later.%3.entry", "run_all.%5.entry"} <= set(names)
    assert "fallback" not in names
    assert events.pointed_by("on_key+0") == events.pointed_by("on_key")


def test_the_call_graph_has_all_three_kinds_of_calls(events: PointsToResult) -> None:
    graph = events.call_graph()
    kinds = {(edge.caller, edge.callee): edge.kind for edge in graph.edges}
    assert kinds["main", "handler_of"] == CallKind.DIRECT
    assert kinds["main", "on_key"] == CallKind.INDIRECT
    assert kinds["main", "by_kind"] == CallKind.CALLBACK
    assert graph.callees("run_all") == ["free", "redraw"]
    assert set(graph.callers("later")) == {"on_key", "on_click"}
    assert "redraw" in graph.reachable("main")
    assert "redraw" not in graph.reachable("on_key")
    (site,) = graph.at("queue.c:27")
    assert site.targets == ("redraw",)
    assert site.why("redraw").steps[-1].location == "queue.c:27:5"
    assert graph.callers("main") == [OUTSIDE]
    with pytest.raises(SourceError, match=r"no call is at 'queue\.c:2'"):
        graph.at("queue.c:2")


def test_mod_ref_of_a_function_and_what_it_calls(events: PointsToResult) -> None:
    key = events.mod_ref("on_key")
    assert key.writes == {
        *("editor.n_keys", "clock.n_keys", "first"),
        *("heap@queue.c:15:25", "heap@queue.c:15:25.context", "heap@queue.c:15:25.next"),
    }
    read = {"first", "editor.n_keys", "main.events[0].value", "main.events[0].target"}
    assert read <= set(key.reads.names)
    assert events.mod_ref("ignore").writes == set()
    everything = events.mod_ref("main")
    assert {"editor.n_clicks", "main.events", "fallback"} <= set(everything.writes.names)
    assert not {"table", "__const.main.events"} & set(everything.writes.names)  # constants
    assert "on_key" not in everything.reads  # code is no data


def test_mod_ref_counts_what_is_copied_and_what_escapes(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        """
#include <string.h>
struct s { int *p; int n; } a, b;
int *kept, secret;
void outside(int **);
void copy(void) { memcpy(&a, &b, sizeof a); }
void call(void) { outside(&kept); }
int main(void) { copy(); call(); return secret; }
""",
    )
    copied = result.mod_ref("copy")
    assert {"a", "a.n"} <= set(copied.writes.names)
    assert "b.n" in copied.reads
    assert "b" not in copied.writes
    assert not copied.writes.unknown
    called = result.mod_ref("call")
    assert called.writes.unknown
    assert "kept" in called.writes
    assert "secret" not in called.writes


def test_mod_ref_counts_what_assembly_is_given(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        """
static int given, hidden, *through = &hidden, other;
static void barrier(void) { __asm__ volatile("" : : "r"(&through) : "memory"); }
static int pure(void) { return other; }
int main(void) { barrier(); return given + *through + pure(); }
""",
    )
    assert {"hidden", "through"} <= set(result.mod_ref("barrier").writes.names)
    assert "other" not in result.mod_ref("barrier").writes
    assert result.mod_ref("pure").reads.names == ["other"]


def test_an_unknown_function_may_call_back_whatever_escaped(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        """
void outside(void (*)(void)); void other(void); void (*hook(void))(void);
static int private_, untouched;
static void back(void) { private_ = 1; }
static void never(void) { untouched = 1; }
static void (*volatile kept)(void) = never;
static void call(void) { other(); }
static void jump(void) { hook()(); }
int main(void) { outside(back); call(); jump(); return private_ + untouched + !kept; }
""",
    )
    graph = result.call_graph()
    assert graph.escaped == ("back",)
    assert "back" in graph.reachable("call")
    assert "back" in graph.reachable("jump")
    assert "never" not in graph.reachable("main")
    (site,) = graph.indirect
    assert (site.known, site.targets, site.may_leave) == ((), ("back",), True)
    assert graph.callees("jump") == ["hook", "back", OUTSIDE]
    assert graph.callers("back") == ["jump", OUTSIDE]
    assert graph.callees(OUTSIDE) == ["back", "main"]
    assert graph.callers(OUTSIDE) == ["jump", "outside", "other", "hook"]
    assert '"(outside)" -> "back"' in graph.to_dot()
    for question in (graph.callees, graph.callers, graph.reachable, graph.within):
        with pytest.raises(SourceError, match="did you mean jump") as error:
            question("jmp")
        assert error.value.id == "points-to/no-such-name"
    direct = next(site for site in graph.sites if site.known == ("call",))
    assert direct.why("call").steps[0].text == "call is called by its name"
    for name, message in (("jump", "cannot reach"), ("cal", "did you mean call")):
        with pytest.raises(SourceError, match=message):
            direct.why(name)
    for function in ("call", "jump"):
        writes = result.mod_ref(function).writes
        assert writes.unknown
        assert "private_" in writes  # it never escapes: the callback writes it
        assert "untouched" not in writes
    assert not result.escapes("private_")


def test_targets_are_what_the_solver_found_and_what_the_unknown_stands_for(
    events: PointsToResult, tmp_path: Path
) -> None:
    text = "int f(int), g(int); int (*p)(int) = f; int main(int n, char **v) { return p(n); }"
    for result in (events, solved(tmp_path, text), solved(tmp_path, text, library=True)):
        problem, graph = result.system.problem, result.call_graph()
        for call, site in enumerate(graph.indirect):
            edges = result.solution.call_edges[result.solution.call_edges[:, 0] == call, 1]
            names = [result.naming.object(int(problem.function_object[f])) for f in edges]
            assert set(names) <= set(site.targets)
            assert len(set(site.targets)) == len(site.targets)
            more = set(site.targets) - set(names)  # the unknown stands for all that escaped
            assert more <= set(graph.escaped if site.may_leave else ())


def test_what_is_handed_to_an_unknown_function_escapes(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        "void outside(int **); int *inside(void);\n"
        "static int a, b, *p = &a, *q = &b;\n"
        "int main(void) { outside(&p); int *r = inside(); return *r + *q; }\n",
    )
    assert result.escapes("a")
    assert result.escapes("p")
    assert not result.escapes("b")
    assert result.of("main.r").unknown
    assert "a" in result.of("main.r")
    assert result.may_alias("main.r", "p")
    assert not result.may_alias("main.r", "q")
    assert [e.name for e in result.statistics.unknown_externals] == ["outside", "inside"]
    steps = result.explain("main.r", "a").steps
    assert [step.rule for step in steps][-1] == "enter"
    assert "escapes" in str(result.explain("main.r", "a"))


def test_statistics_count_what_is_there(events: PointsToResult) -> None:
    found = events.statistics
    assert found.n_functions == 11
    assert found.n_call_sites == 3
    assert found.n_targets == 6
    assert (found.n_unknown, found.n_escaped, found.n_unresolved_sites) == (0, 0, 0)
    assert found.largest_set == found.hottest[0].n_objects >= found.average_set > 0
    assert found.n_objects == events.system.problem.n_objects


def test_a_program_without_main_says_how_it_can_be_analysed(tmp_path: Path) -> None:
    text = "int *kept; void keep(int *p) { kept = p; }\n"
    with pytest.raises(kleene.SourceError) as error:
        solved(tmp_path, text)
    assert error.value.id == "points-to/no-main"
    assert "--library" in error.value.notes[0]
    assert solved(tmp_path, text, library=True).of("keep.p").unknown


def test_what_the_loader_runs_is_called_from_outside(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        """
static int n;
__attribute__((constructor)) static void first(void) { n = 1; }
__attribute__((destructor)) static void last(void) { n = 2; }
static void chosen(void) { n = 3; }
static void (*resolve(void))(void) { return chosen; }
void picked(void) __attribute__((ifunc("resolve")));
int main(void) { picked(); return n; }
""",
    )
    graph = result.call_graph()
    assert set(graph.callees(OUTSIDE)) >= {"main", "first", "last", "resolve"}
    assert set(graph.reachable(OUTSIDE)) >= {"main", "first", "last", "resolve", "chosen"}
    assert all(OUTSIDE in graph.callers(f) for f in ("main", "first", "last", "resolve"))
