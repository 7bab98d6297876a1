"""The whole answer as columns, JSON, Arrow, Parquet and DOT says what the questions say."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from tests.analyses.points_to.compiled import solved

EVENTS = Path(__file__).resolve().parents[3] / "examples" / "events"


@pytest.fixture(scope="module")
def events() -> PointsToResult:
    result: PointsToResult = kleene.load(EVENTS).points_to(device="cpu")
    return result


def rows(result: PointsToResult) -> list[tuple[str, str]]:
    table = result.tables()["points_to"]
    return list(zip(table["pointer"].tolist(), table["object"].tolist(), strict=True))


def test_every_row_is_an_answer_and_every_answer_a_row(events: PointsToResult) -> None:
    found: dict[str, set[str]] = {}
    for pointer, object in rows(events):
        found.setdefault(pointer, set()).add(object)
    for pointer, objects in found.items():
        asked = f"{pointer}+0" if pointer in ("main.events", "heap@queue.c:15:25") else pointer
        if "+" in asked or "%" in asked or "." in asked:
            assert events.of(asked) == objects, pointer
    assert found["main.%11.handle"] == {"ignore", "on_key", "on_click", "complain"}
    assert found["handler_of.return"] == found["main.%11.handle"]
    assert found["heap@queue.c:15:25.context"] == {"editor", "clock"}


def test_columns_are_equally_long_and_say_where_objects_are_made(events: PointsToResult) -> None:
    table = events.tables()["points_to"]
    assert {len(column) for column in table.columns.values()} == {len(table["pointer"])}
    row = table["object"].tolist().index("on_key")
    assert (table["kind"][row], table["location"][row]) == ("function", "handlers.c:11")


def test_the_unknown_is_a_row(tmp_path: Path) -> None:
    text = "int *outside(void); int main(void) { int *p = outside(); return *p; }\n"
    assert "unknown" in [o for p, o in rows(solved(tmp_path, text)) if p.endswith(".p")]


def test_json(events: PointsToResult) -> None:
    value = json.loads(events.to_json())
    assert set(value["pointers"]["first"]) == {"heap@queue.c:15:25"}
    assert value["statistics"]["n_functions"] == 11
    sites = value["call_graph"]["sites"]
    (callback,) = (site for site in sites if site["kind"] == "callback")
    assert (callback["caller"], callback["location"]) == ("main", "main.c:26:3")
    assert callback["targets"] == ["by_kind"]
    (direct,) = (site for site in sites if site["targets"] == ["qsort"])
    assert (direct["kind"], direct["location"]) == ("direct", "main.c:26:3")


def test_arrow_and_parquet_hold_the_table(events: PointsToResult, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = events.tables()["points_to"].to_arrow()
    assert table.column_names == ["pointer", "object", "kind", "location"]
    pairs = list(zip(*(table[name].to_pylist() for name in ("pointer", "object")), strict=True))
    assert pairs == rows(events)
    events.tables()["points_to"].to_parquet(tmp_path / "facts.parquet")
    assert parquet.read_table(tmp_path / "facts.parquet").num_rows == len(pairs)
    with pytest.raises(kleene.SourceError) as error:
        events.tables()["points_to"].to_parquet(tmp_path / "absent" / "facts.parquet")
    assert error.value.id == "results/cannot-write"
    assert error.value.span is not None
    assert error.value.span.file == str(tmp_path / "absent" / "facts.parquet")
    assert "No such file or directory" in error.value.message


def test_without_pyarrow_the_way_out_is_named(
    events: PointsToResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(kleene.SourceError) as error:
        events.tables()["points_to"].to_arrow()
    assert error.value.id == "results/needs-pyarrow"
    assert "kleene[arrow]" in error.value.notes[0]


def test_dot_draws_each_kind_of_call_in_its_own_way(events: PointsToResult) -> None:
    dot = events.to_dot()
    assert dot.startswith('digraph "call graph" {\n')
    assert '"main" -> "handler_of" [style="solid"];' in dot
    assert '"main" -> "on_key" [style="dashed"];' in dot
    assert '"main" -> "by_kind" [style="dotted"];' in dot
    assert "unknown" not in dot
