"""Models of library functions: how they are written, and what the built-in ones do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kleene
from kleene import SourceError
from kleene.analyses.points_to.constraints.assumptions import Assumptions
from kleene.analyses.points_to.library import Library, builtin, heap_of, of_lines, read_models
from kleene.analyses.points_to.library.language import (
    RESULT,
    Anywhere,
    Argument,
    Assumes,
    Calls,
    Cleans,
    Contents,
    Copies,
    Digits,
    Escapes,
    Following,
    Heap,
    Mapped,
    MayReturnNull,
    Named,
    Passes,
    Place,
    Returns,
    Shares,
    Stores,
    Strings,
    Symbol,
    Taints,
    Text,
    Trusts,
    Writes,
    parse_models,
)
from tests.analyses.points_to.compiled import solved
from tests.analyses.points_to.oracle import OracleAnswer, load, oracle_answer


def models_of(text: str) -> Library:
    return of_lines(parse_models(text, "models.txt"))


def test_every_word_of_the_language_is_read() -> None:
    library = models_of(
        """
        # a comment
        f g: returns heap[0*1], 2..3; *(*0).. <- 1; @shared <- *1..   # and another
        h*: copy 0 <- 1 [2]; calls *0(1.., _) -> @shared; escapes static; *0 <- unknown
        n: nothing
        p: *text[0] <- *text[strings[1]], 2+; @digits <- digits[1]; assumes that, and no more
        s: returns symbol[1], mapped[4]
        """
    )
    assert library.find("p") == (
        Stores(Text(Argument(0)), Contents(Text(Strings(1)))),
        Stores(Text(Argument(0)), Following(2)),
        Shares("@digits", Digits(1)),
        Assumes("that, and no more"),
    )
    assert library.find("s") == (Returns(Symbol(1)), Returns(Mapped(4)))
    assert library.find("f") == library.find("g")
    assert library.find("f") == (
        Returns(Heap((0, 1))),
        Returns(Anywhere(Argument(2), 3)),
        Stores(Anywhere(Contents(Argument(0))), Argument(1)),
        Shares("@shared", Contents(Anywhere(Argument(1)))),
    )
    assert library.find("history") == (
        Copies(Argument(0), Argument(1), 2),
        Calls(Contents(Argument(0)), (Anywhere(Argument(1)), Named("_")), "@shared"),
        Escapes(Named("static")),
        Stores(Argument(0), Named("unknown")),
    )
    assert library.find("n") == ()
    assert library.find("m") is None


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("f returns 0", 1, "names: effects"),
        (": returns 0", 1, "names: effects"),
        ("f: gives 0", 4, "an effect"),
        ("f: returns zero", 12, "a term"),
        ("f: *0 - 1", 7, "'<-'"),
        ("f: returns 0 1", 14, "';'"),
        ("f: calls 0(1", 13, "')'"),
        ("f: returns heap[x]", 17, "the number"),
        ("f: calls 0() -> x", 17, "@handlers"),
        ("f: returns", 11, "the end"),
    ],
)
def test_a_line_that_is_not_understood_is_shown(line: str, column: int, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        models_of(f"g: nothing\n{line}\n")
    assert caught.value.id == "points-to/bad-model"
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == (2, column)
    assert words in caught.value.message


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        read_models([tmp_path / "absent.txt"])
    assert caught.value.id == "points-to/no-models"
    assert str(caught.value.span) == str(tmp_path / "absent.txt")


def test_roles_say_what_functions_do_to_data_and_are_no_models() -> None:
    library = models_of(
        """
        fetch: taints 1, result; returns static
        run: trusts 0, 2 as command; may return null
        run: passes 0 to result
        clean: cleans result
        gather: taints *1, **2; trusts 3+ as command
        fill: writes 0, 2+
        put: writes 1, streams, counts[1]
        ask: writes nothing
        """
    )
    assert library.find("fetch") == (Returns(Named("static")),)
    assert library.roles_of("fetch") == (Taints(Place(1)), Taints(Place(RESULT)))
    assert library.find("run") is None
    assert library.roles_of("run") == (
        Trusts(Place(0), "command"), Trusts(Place(2), "command"), MayReturnNull(),
        Passes(Place(0), Place(RESULT)),
    )  # fmt: skip
    assert library.roles_of("clean") == (Cleans(Place(RESULT)),)
    assert library.roles_of("gather") == (
        Taints(Place(1, 1)), Taints(Place(2, 2)), Trusts(Place(3, and_behind=True), "command"),
    )  # fmt: skip
    assert library.roles_of("fill") == (Writes(0), Writes(2, and_behind=True))
    assert library.roles_of("put") == (Writes(1), Writes(streams=True), Writes(format=1))
    assert library.roles_of("ask") == (Writes(),)
    assert [*Place(3, and_behind=True).positions(5)] == [3, 4]
    assert [*Place(3).positions(5)] == [3]
    assert [*Place(3).positions(2)] == []
    assert library.roles_of("other") == ()
    mine = builtin().with_user(models_of("getenv: cleans result"))
    assert mine.roles_of("getenv") == (Cleans(Place(RESULT)),)
    assert mine.find("getenv") == builtin().find("getenv")


@pytest.mark.parametrize(
    ("line", "column"),
    [("f: taints", 10), ("f: trusts 0", 12), ("f: trusts 0 as 1", 16), ("f: passes 0 result", 13),
     ("f: may null", 8), ("f: writes", 10), ("f: writes counts", 17), ("f: writes 0 1", 13),
     ("f: taints 0 1", 13), ("f: taints *", 12),
     ("f: trusts result as command", 11)],
)  # fmt: skip
def test_a_mistake_in_a_role_has_a_place(line: str, column: int) -> None:
    with pytest.raises(SourceError) as error:
        models_of(line)
    assert error.value.id == "points-to/bad-model"
    assert error.value.span is not None
    assert error.value.span.column == column


def test_a_name_has_one_model() -> None:
    folder = Path(str(__import__("kleene").__file__)).parent / "analyses/points_to/library/models"
    seen: dict[str, str] = {}
    for file in sorted(folder.iterdir()):
        for names, line in parse_models(file.read_text("utf-8"), file.name):
            for name in names if of_lines([(names, line)]).by_name else []:
                assert name not in seen, f"{name} stands in {seen[name]} and again in {file.name}"
                seen[name] = file.name


@pytest.mark.parametrize(
    "name",
    ["malloc", "calloc", "realloc", "strdup", "_Znwm", "_ZnamRKSt9nothrow_t", "mmap64", "fopen"],
)
def test_allocators_are_known(name: str) -> None:
    model = builtin().find(name)
    assert model is not None
    assert heap_of(model) is not None


@pytest.mark.parametrize(
    "name",
    [
        *("printf", "\x01fopen", "llvm.memcpy.p0.p0.i64", "__isoc99_sscanf", "pthread_mutex_lock"),
        *("_ZdlPvm", "__memcpy_chk", "sinf", "llvm.fmuladd.f64", "getopt_long", "__ctype_b_loc"),
    ],
)
def test_common_functions_are_known(name: str) -> None:
    assert builtin().find(name) is not None


CURSES = r"""
typedef struct window { struct window *parent; } WINDOW;
typedef struct panel PANEL;
extern WINDOW *stdscr;
WINDOW *initscr(void), *newwin(int, int, int, int), *panel_window(const PANEL *);
PANEL *new_panel(WINDOW *);
int wprintw(WINDOW *, const char *, ...), ripoffline(int, int (*)(WINDOW *, int));
int set_panel_userptr(PANEL *, const void *);
const void *panel_userptr(const PANEL *);
char *readline(const char *);

WINDOW *screen, *window, *global, *parent, *of_panel, *ripped;
const void *user;
char *line;
int data, other;
int take(WINDOW *w, int n) { ripped = w; return n; }
int main(void) {
  ripoffline(1, take);
  screen = initscr();
  window = newwin(1, 1, 0, 0);
  global = stdscr;
  parent = window->parent;
  PANEL *panel = new_panel(window);
  of_panel = panel_window(panel);
  set_panel_userptr(panel, &data);
  user = panel_userptr(panel);
  wprintw(window, "%p", (void *)&other);
  line = readline("> ");
  return 0;
}
"""


def test_curses_and_readline_hand_out_windows_and_lines(tmp_path: Path) -> None:
    result = solved(tmp_path, CURSES)
    windows = set(map(str, result.of("screen")))
    assert windows
    for name in ("window", "global", "parent", "of_panel", "ripped"):
        assert windows <= set(map(str, result.of(name))), name
    assert list(map(str, result.of("user"))) == ["data"]
    assert len(list(result.of("line"))) == 1
    assert not result.may_alias("line", "window")
    assert not result.escapes("other")
    assert result.statistics.n_unknown == 0


PROGRAM = r"""
#define _GNU_SOURCE
#include <getopt.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int a, b, key;
char text[32], *rest_of_text, *word, *found, *environment, *duplicate, *line;
void *joined_result, *specific, *destroyed, *thread_argument, *formatted;
FILE *file, *output;
struct tm *when;
const char *zone;
int *searched, *hit, *from_exit;
int items[4];
void (*handler)(int), (*previous)(int);
pthread_key_t thread_key;
void *(*allocate)(size_t) = malloc, *by_address;

void *work(void *argument) { thread_argument = argument; return &b; }
void destroy(void *p) { destroyed = p; }
void on_signal(int n) { (void)n; }
void at_end(int status, void *p) { (void)status; from_exit = p; }
int compare(const void *l, const void *r) { searched = (int *)l; hit = (int *)r; return 0; }
void once(void) {}

int main(int argc, char **argv) {
  word = strtok(text, " ");
  strtol(text, &rest_of_text, 10);
  found = strchr(text, 'x');
  environment = getenv("HOME");
  duplicate = strdup(text);
  size_t size = 0;
  getline(&line, &size, stdin);
  file = fopen("f", "r");
  output = stdout;
  when = localtime(0);
  zone = when->tm_zone;
  pthread_t thread;
  pthread_create(&thread, 0, work, &a);
  pthread_join(thread, &joined_result);
  pthread_key_create(&thread_key, destroy);
  pthread_setspecific(thread_key, &key);
  specific = pthread_getspecific(thread_key);
  previous = signal(SIGINT, on_signal);
  on_exit(at_end, &a);
  int *at = bsearch(&key, items, 4, sizeof *items, compare);
  getopt(argc, argv, "x");
  formatted = optarg;
  static pthread_once_t control;
  pthread_once(&control, once);
  by_address = allocate(4);
  return at != 0;
}
"""


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> OracleAnswer:
    return oracle_answer(load(tmp_path_factory.mktemp("library"), PROGRAM))


@pytest.mark.parametrize(
    ("variable", "held"),
    [
        ("duplicate", {"strdup@main"}),
        ("line", {"getline@main"}),
        ("file", {"fopen@main"}),
        ("output", {"static stdout"}),
        ("when", {"static localtime"}),
        ("thread_argument", {"a"}),
        ("joined_result", {"b"}),
        ("specific", {"key"}),
        ("destroyed", {"key"}),
        ("previous", {"on_signal"}),
        ("from_exit", {"a"}),
        ("searched", {"key"}),
        ("by_address", {"malloc@malloc"}),
    ],
)
def test_models_do_what_the_library_does(
    museum: OracleAnswer, variable: str, held: set[str]
) -> None:
    assert museum.holds(variable) == held


@pytest.mark.parametrize(
    ("variable", "string"),
    [
        ("word", "text"),
        ("rest_of_text", "text"),
        ("found", "text"),
        ("formatted", "command_line main.1"),
    ],
)
def test_pointers_into_a_string_stay_in_it(
    museum: OracleAnswer, variable: str, string: str
) -> None:
    assert {name.split("+")[0] for name in museum.holds(variable)} == {string}


def test_the_environment_lies_behind_the_arguments(museum: OracleAnswer) -> None:
    strings = {name.split("+")[0] for name in museum.holds("environment")}
    assert strings == {"static getenv", "command_line main.1"}


def test_elements_are_reached_in_steps(museum: OracleAnswer) -> None:
    assert museum.holds("hit") >= {"items", "items+4"}
    assert {name.split("+")[0] for name in museum.holds("hit")} == {"items"}


def test_callbacks_are_calls(museum: OracleAnswer) -> None:
    assert museum.targets("main") == {
        *("work", "destroy", "on_signal", "at_end", "compare", "once", "malloc"),
    }
    assert len(museum.system.callbacks) == 6


def test_nothing_is_unknown_where_all_is_modelled(museum: OracleAnswer) -> None:
    assert [e.name for e in museum.system.externals if not e.is_modelled] == []
    assert not museum.solution.escaped.any()


def test_calls_are_counted(museum: OracleAnswer) -> None:
    calls = {e.name: e.n_calls for e in museum.system.externals}
    assert calls["strchr"] == 1
    assert not any(re.match(r"llvm\.", name) for name in calls)


def test_the_user_may_model_what_the_program_defines(tmp_path: Path) -> None:
    program = load(
        tmp_path,
        """
        char pool[4096];
        unsigned used;
        void *take(unsigned n) { used += n; return pool + used; }
        void *first, *second;
        int main(void) { first = take(4); second = take(8); return 0; }
        """,
    )
    as_written = oracle_answer(program)
    assert {name.split("+")[0] for name in as_written.holds("first")} == {"pool"}
    (tmp_path / "models.txt").write_text("take: returns heap[0]\n")
    modelled = oracle_answer(program, models=read_models([tmp_path / "models.txt"]))
    assert modelled.holds("first") == {"take@main"}
    sizes = modelled.system.allocations.n_bytes[modelled.system.allocations.kind == 3]
    assert sorted(sizes.tolist()) == [4, 8]


def test_definitions_win_over_built_in_models(tmp_path: Path) -> None:
    program = load(
        tmp_path,
        """
        char pool[64];
        void *malloc(unsigned long n) { return pool + n; }
        void *block;
        int main(void) { block = malloc(4); return 0; }
        """,
        flags="-fno-builtin",
    )
    assert {name.split("+")[0] for name in oracle_answer(program).holds("block")} == {"pool"}


@pytest.mark.parametrize(
    ("line", "id"),
    [
        ("f: holds _", "points-to/bad-model"),  # it is a function
        ("f: throws 0 as type", "points-to/bad-model"),
        ("f: derives 1", "points-to/bad-model"),
        ("f: returns 99999999999999999999", "points-to/bad-model"),
        ("f: returns \N{SUPERSCRIPT TWO}", "points-to/bad-model"),
        ("f: returns " + "*" * 5000 + "0", "points-to/bad-model"),
        ("f: copy 0 <- 1[7]", None),  # an argument that no call passes
    ],
)
def test_a_model_that_does_not_fit_is_no_crash(tmp_path: Path, line: str, id: str | None) -> None:
    (tmp_path / "a.c").write_text(
        "int *f(int *, int *); int x; int main(void) { return *f(&x, &x); }"
    )
    (tmp_path / "models.txt").write_text(f"{line}\n", encoding="utf-8")
    program = kleene.load(tmp_path / "a.c")
    for models in (str(tmp_path / "models.txt"), [tmp_path / "models.txt"]):  # one name, or several
        if id is None:
            program.points_to(models=models)
            continue
        with pytest.raises(SourceError) as caught:
            program.points_to(models=models)
        assert caught.value.id == id
        assert caught.value.span is not None
        assert caught.value.span.line == 1


def test_one_name_is_not_one_for_each_letter(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }")
    program = kleene.load(tmp_path / "a.c")
    for options, name in (({"models": "absent"}, "absent"), ({"wrappers": "absent"}, "'absent'")):
        with pytest.raises(SourceError) as caught:
            program.points_to(**options)
        assert name in str(caught.value)


NOT_AS_BYTES = Assumptions.BYTES.said()
ROUND_TRIP = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int one, two;
int main(void) {
  int ends[2];
  int *sent = &one, *received = 0, *printed = &two, *scanned = 0;
  char text[40];
  pipe(ends);
  write(ends[1], &sent, sizeof sent);
  read(ends[0], &received, sizeof received);
  sprintf(text, "%p", (void *)printed);
  sscanf(text, "%p", (void **)&scanned);
  return *received + *scanned;
}
"""


def test_users_may_say_that_pointers_do_not_travel_as_bytes(tmp_path: Path) -> None:
    program = load(tmp_path, ROUND_TRIP)
    followed = program.points_to(device="cpu")
    assert "one" in followed.of("main.received")
    assert "two" in followed.of("main.scanned")
    assumed = program.points_to(device="cpu", pointers_in_bytes=False)
    assert not {"one", "two"} & {
        *assumed.of("main.received").names,
        *assumed.of("main.scanned").names,
    }
    assert NOT_AS_BYTES in assumed.statistics.assumptions
    assert NOT_AS_BYTES not in followed.statistics.assumptions
    silent = load(tmp_path, "int main(void) { return 0; }").points_to(pointers_in_bytes=False)
    assert NOT_AS_BYTES not in silent.statistics.assumptions


UNSAID = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
int own;
static void handler(int n, siginfo_t *info, void *context) { exit(info->si_addr == 0); }
int main(int n, char **arguments) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
  int *found = dlsym(dlopen(arguments[1], RTLD_NOW), arguments[2]);
  return *found + open("/proc/self/mem", O_RDONLY);
}
"""


def test_what_no_model_follows_is_said(tmp_path: Path) -> None:
    said = load(tmp_path, UNSAID).points_to(device="cpu").statistics.assumptions
    for words in ("si_addr", "computed name", "/proc/self/mem"):
        assert sum(words in text for text in said) == 1, words
    plain = UNSAID.replace("info->si_addr == 0", "n")  # it looks at nothing but the number
    said = load(tmp_path, plain).points_to(device="cpu").statistics.assumptions
    assert not any("si_addr" in text for text in said)
    nothing = load(tmp_path, ROUND_TRIP).points_to(device="cpu").statistics.assumptions
    assert not any("si_addr" in t or "computed name" in t or "/proc" in t for t in nothing)


WRAPPERS = """
#define _GNU_SOURCE
#include <execinfo.h>
#include <search.h>
static int compare(const void *a, const void *b) { return a < b ? -1 : a > b; }
static void *root;
static char **texts(void **frames, int n) { return backtrace_symbols(frames, n); }
static void *inserted(void *key) { return tsearch(key, &root, compare); }
int main(void) {
  static int key;
  void *frames[4];
  char **all = texts(frames, backtrace(frames, 4)), *text = all[0];
  void **first = inserted(&key), **second = inserted(&key);
  int *kept = *second;
  return text[0] + *kept + (first == second);
}
"""


def test_a_function_that_returns_a_models_storage_has_its_contents(tmp_path: Path) -> None:
    found = solved(tmp_path, WRAPPERS)
    assert found.may_alias("main.all", "main.text"), "texts lie in the block of pointers to them"
    assert found.may_alias("main.first", "main.second"), "the second call finds what the first made"
    assert "main.key" in found.of("main.kept")


def test_system_calls_by_number_are_known(tmp_path: Path) -> None:
    source = tmp_path / "unit.c"
    source.write_text("""
        #include <stddef.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        int x, y;
        struct action { void (*handler)(int); void *rest[3]; } own;
        static void handle(int number) {}
        int main() {
          struct { int *inside; } box = {&x};
          int *apart = &y;
          syscall(SYS_getrandom, &box, sizeof box, 0);
          int *q = box.inside, *r = apart;
          char *made = (char *)syscall(SYS_brk, 0);
          own.handler = handle;
          syscall(SYS_rt_sigaction, 10, &own, NULL, 8);
          return *q + *r + *made;
        }
    """)
    result = kleene.load([source]).points_to()
    assert not any(result.of(f"main.{name}").unknown for name in ("q", "r", "made"))
    assert "x" in result.of("main.q").names
    assert result.of("main.r").names == ["y"]
    assert any(name.startswith("heap@") for name in result.of("main.made").names)
    assert "main" in result.call_graph().callers("handle")
