"""Real programs, built from source and run: what their pointers held lies in the computed sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kleene.frontends.c.compiler import Options
from kleene.runtime import pointer_trace
from tests.analyses.points_to.observing import answer, assert_covers, instrumented, load

pytestmark = pytest.mark.data
LUA_SCRIPT = """
local t = {}
for i = 1, 50 do t[i] = {i, name = "n" .. i} end
table.sort(t, function(a, b) return a[1] > b[1] end)
local co = coroutine.create(function(a) return coroutine.yield(a + 1) * 2 end)
assert(select(2, coroutine.resume(co, 1)) == 2 and select(2, coroutine.resume(co, 21)) == 42)
assert(not pcall(function() error({code = 3}) end))
local object = setmetatable({}, {__index = function(_, k) return k .. "!" end, __gc = print})
assert(object.hello == "hello!" and load("return ... + 1")(41) == 42)
assert(("key=value"):gsub("%w+", {key = "a"}) == "a=value" and string.unpack("i4", "abcd"))
local name = os.tmpname()
local file = io.open(name, "w")
file:write("one\\ntwo\\n"):close()
for line in io.lines(name) do io.write(line, ";") end
os.remove(name)
collectgarbage("generational")
for i = 1, 300 do local x = {i, tostring(i)} end
collectgarbage("incremental")
print(debug.traceback("done"), string.format("%q %5.1f", "x", 2.5), os.getenv("HOME"))
"""


@pytest.fixture(scope="module")
def sources(request: pytest.FixtureRequest) -> Path:
    """The folder of unpacked sources: `$KLEENE_SOURCES`, else `sources` in the measured data."""
    chosen = os.environ.get("KLEENE_SOURCES")
    return Path(chosen) if chosen else request.getfixturevalue("shared_data") / "sources"


def _folder(sources: Path, name: str) -> Path:
    if not (found := sources / name).is_dir():
        pytest.skip(f"the sources of {name} are absent: set KLEENE_SOURCES to the folder of them")
    return found


def test_bzip2(sources: Path, tmp_path: Path):
    folder = _folder(sources, "bzip2-1.0.8")
    others = {"bzip2recover", "dlltest", "mk251", "spewG", "unzcrash"}  # have a main of their own
    loaded = load(*sorted(file for file in folder.glob("*.c") if file.stem not in others))
    system, solution = answer(loaded.program)
    program = instrumented(loaded, system, tmp_path)
    text = tmp_path / "text"
    text.write_bytes((folder / "bzip2.c").read_bytes()[:3000])
    for arguments in (
        ("-k", "text"),
        ("-dkf", "text.bz2"),
        ("-tvv", "text.bz2"),
        ("-dsc", "text.bz2"),
    ):
        words = [str(tmp_path / a) if a.startswith("text") else a for a in arguments]
        run = pointer_trace.run(program, *words)
        assert run.status == 0, run.complaints
        assert_covers(loaded, system, solution, run)


def test_lua(sources: Path, tmp_path: Path):
    folder = _folder(sources, "lua-5.4.4") / "src"
    units = sorted(file for file in folder.glob("*.c") if file.name != "luac.c")
    loaded = load(*units, options=Options(defines=("LUA_USE_POSIX",)))
    system, solution = answer(loaded.program)
    program = instrumented(loaded, system, tmp_path, flags=("-lm",))
    script = tmp_path / "script.lua"
    script.write_text(LUA_SCRIPT)
    run = pointer_trace.run(program, str(script), "argument")
    assert run.status == 0, run.complaints
    assert b"one;two;done" in run.output
    assert len(run.facts) > 10_000
    assert_covers(loaded, system, solution, run)
