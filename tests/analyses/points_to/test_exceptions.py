"""Exceptions by type: a handler gets what its type catches, whoever throws it or passes it on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kleene
from kleene.frontends.c.compiler import Options
from tests.analyses.points_to.observing import answer, assert_covers, load, observe

SOURCE = r"""
#include <exception>
#include <stdexcept>

int a, b, c, d, e, f, g;
struct Error {
  int *own;
  explicit Error(int *o) : own(o) {}
  virtual int code() { return 1; }
};
struct Parse : Error {
  using Error::Error;
  int code() override { return 2; }
};
struct Io : Error {
  using Error::Error;
  int code() override { return 3; }
};
struct Other {
  int *own;
};
struct Tag {
  int *tag = &d;
  virtual int mark() { return 4; }
};
struct Both : Tag, Io {
  Both() : Io(&e) {}
};
struct Shared : virtual Tag, virtual Error {
  Shared() : Error(&f) {}
};
struct Deeper : Shared {
  Deeper() : Error(&g) {}
};
struct Cleans {
  ~Cleans() { a++; }
};
Parse *of_parse, *of_rethrown;
Error *of_error;
Other *of_nested;
Io *of_kept, *of_base_pointer;
Both *of_both;
Tag *of_tag;
Shared *of_virtual;
int *of_other, *of_int, *of_reference, *of_local;
void *of_void;
const std::exception *of_library;
Parse parse(&a);
Io io(&b);
Both both_;
static int always = 1;

__attribute__((noinline)) static void fail(int n) {
  Cleans on_the_way;
  switch (n) {
    case 0: throw Parse(&a);
    case 1: throw Io(&b);
    case 2: throw Other{&c};
    case 3: throw Both();
    case 4: throw Shared();
    case 5: throw &c;
    case 6: throw &parse;
    case 7: throw &both_;
    case 8: throw std::out_of_range("far");
    case 9: throw Deeper();
    case 10: throw nullptr;
    case 11: throw Error(&d);
  }
}

static int handled(int n) {
  try {
    fail(n);
  } catch (Parse &p) {
    of_parse = &p;
    return p.code();
  } catch (Both &p) {
    of_both = &p;
    return p.code() + p.mark();
  } catch (Error &p) {
    of_error = &p;
    return p.code();
  } catch (Other p) {
    of_other = p.own;
  } catch (int *p) {
    of_int = p;
  } catch (Io *p) {
    of_base_pointer = p;
    return p->code();
  } catch (void *p) {
    of_void = p;
  } catch (std::logic_error &p) {
    of_library = &p;
  } catch (...) {
  }
  return 0;
}

static int parts(int n) {
  try {
    fail(n);
  } catch (Tag &p) {
    of_tag = &p;
    return p.mark();
  } catch (int *const &p) {
    of_reference = p;
  } catch (...) {
  }
  return 0;
}

static int virtual_parts(int n) {
  try {
    try {
      fail(n);
    } catch (Deeper &) {
      throw;
    }
  } catch (Shared &p) {
    of_virtual = &p;
    return p.code();
  } catch (...) {
  }
  return 0;
}

static std::exception_ptr kept(int n) {
  try {
    fail(n);
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

static int again(int n) {
  try {
    Cleans too;
    if (auto p = kept(n)) std::rethrow_exception(p);
  } catch (Io &p) {
    of_kept = &p;
    return p.code();
  } catch (...) {
  }
  return 0;
}

static int nested(int n) {
  try {
    try {
      fail(n);
    } catch (Error &) {
      try {
        std::throw_with_nested(Other{&d});
      } catch (Other &o) {
        of_nested = &o;
        std::rethrow_if_nested(o);
      }
    }
  } catch (Parse &p) {
    of_rethrown = &p;
  } catch (...) {
  }
  return 0;
}

static int made(int n) {
  try {
    if (n >= 0) std::rethrow_exception(std::make_exception_ptr(Parse(&g)));
  } catch (Parse p) {
    return p.code();
  } catch (...) {
  }
  return 0;
}

static int local(int n) {
  struct Error {
    int *own;
  };
  try {
    if (n >= 0) throw Error{&e};
  } catch (Error &p) {
    of_local = p.own;
  }
  return 0;
}

int main() {
  int sum = 0;
  for (int n = 0; n < 12 * always; n++)
    sum += handled(n) + parts(n) + virtual_parts(n) + again(n) + nested(n) + made(n) + local(n);
  return sum == 0;
}
"""
CAUGHT = {
    "of_parse": {"Parse(&a)", "made"},
    "of_error": {"Io(&b)", "Shared()+24", "Deeper()+24", "Error(&d)"},  # and no Parse, no Both
    "of_both": {"Both()"},
    "of_other": {"c", "d"},
    "of_int": {"c"},
    "of_base_pointer": {"both_._vptr"},  # of its base Io, at byte 16
    "of_void": {"parse", "both_"},
    "of_library": {'std::out_of_range("far")', "library"},
    "of_tag": {"Both()", "Shared()+8", "Deeper()+8"},
    "of_virtual": {"Shared()", "Deeper()"},
    "of_kept": {"Io(&b)", "Both()+16"},
    "of_nested": {"Other{&c}", "nested+16"},
    "of_rethrown": {"Parse(&a)", "made"},
    "of_local": {"e"},
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("exceptions") / "thrown.cpp"
    file.write_text(SOURCE)
    return file


@pytest.fixture(scope="module")
def result(source: Path):
    return kleene.load([source]).points_to(device="cpu")


def told(result, variable: str) -> set[str]:
    """Return what a pointer holds, an exception as what the line says that throws it."""
    lines, found = SOURCE.splitlines(), set()
    for name in result.of(variable).names:
        if place := re.match(r"exception@(\S+?):(\d+):\d+(.*)", name):
            in_library = {"nested_exception.h": "nested", "exception_ptr.h": "made"}
            text = lines[int(place[2]) - 1].partition("throw ")[2].rstrip(";")
            name = in_library.get(place[1], text) + place[3]
        found.add("library" if name == "static@__cxa_begin_catch" else name)
    return found


@pytest.mark.parametrize("variable", CAUGHT)
def test_a_handler_gets_what_its_type_catches(result, variable: str):
    assert told(result, variable) == CAUGHT[variable]


def test_a_pointer_caught_by_reference_is_found_behind_the_header(result):
    assert "c" in result.of("of_reference").names


def test_all_that_a_run_catches_is_there(source: Path, tmp_path: Path):
    loaded = load(source, options=Options(standards=("c++20",)))
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0
    assert_covers(loaded, system, solution, run)


OPEN = r"""
struct Error { int *own; };
struct Other { int *own; };
int a, b;
Error *of_error;
Other *of_other;
extern "C" void *__cxa_allocate_exception(unsigned long);
extern "C" void __cxa_throw(void *, void *, void (*)(void *));
extern "C" void elsewhere();
void *type;
#ifdef LIBRARY
void guarded(void (*callback)())
#else
int main()
#endif
{
  try {
#if defined LIBRARY
    callback();
#elif defined OUTSIDE
    elsewhere();
#elif defined COMPUTED
    __cxa_throw(__cxa_allocate_exception(8), type, nullptr);
#endif
    throw Error{&a};
  } catch (Error &e) {
    of_error = &e;
  } catch (Other &e) {
    of_other = &e;
  }
}
"""


def opened(folder: Path, macro: str, **options: object):
    """Return the answer for `OPEN`, with a macro that says where exceptions may come from."""
    (folder / "open.cpp").write_text(f"#define {macro}\n{OPEN}")
    return kleene.load([folder / "open.cpp"]).points_to(device="cpu", **options)


def test_a_handler_of_another_type_gets_nothing(tmp_path: Path):
    result = opened(tmp_path, "NOTHING")
    assert len(result.of("of_error").names) == 1
    assert not result.of("of_other").names
    assert not result.of("of_other").unknown


def test_an_exception_of_a_type_not_known_is_caught_by_all(tmp_path: Path):
    result = opened(tmp_path, "COMPUTED")
    assert str(result.of("of_other")) == "{exception@open.cpp:24:17+*}"
    assert str(result.of("of_error")) == "{exception@open.cpp:24:17+*, exception@open.cpp:26:5}"


@pytest.mark.parametrize(("macro", "library"), [("OUTSIDE", False), ("LIBRARY", True)])
def test_code_outside_may_throw_anything(tmp_path: Path, macro: str, library: bool):
    result = opened(tmp_path, macro, library=library)
    assert result.of("of_other").unknown
