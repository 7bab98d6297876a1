"""Roles that users give to functions: sources, sinks and sanitisers of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene import SourceError

PROGRAM = """
#include <stdlib.h>
char *fetch(void);
void query(const char *text);
char *escaped(char *text);
int main(void) {
  query(fetch());
  query(escaped(fetch()));
  query("constant");
  system(escaped(getenv("X")));
  return 0;
}
char *escaped(char *text) { return text; }
"""
ROLES = """
fetch: taints result
query: trusts 0 as query
escaped: cleans result
"""


def lines(folder: Path, roles: str | None) -> list[tuple[int, str]]:
    source = folder / "program.c"
    source.write_text(PROGRAM)
    models = folder / "roles.txt"
    models.write_text(roles or "")
    result = kleene.load(source).dataflow(client="taint", models=models, device="cpu")
    return [(one.span.line, one.message) for one in result.findings() if one.span]


def test_sources_sinks_and_sanitisers_of_ones_own(tmp_path: Path) -> None:
    assert lines(tmp_path, ROLES) == [(7, "data from fetch is used as a query by query")]


def test_without_roles_only_those_of_the_library_count(tmp_path: Path) -> None:
    assert lines(tmp_path, None) == [(10, "data from getenv is used as a command by system")]


def test_an_argument_is_clean_behind_the_call_that_cleans_it(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("""
#include <stdlib.h>
void escape(char *text);
int main(int argc, char **argv) {
  char *text = getenv("X");
  if (argc > 1) system(text); /* BAD */
  if (argc > 2) {
    escape(text);
    system(text);
  }
  system(text); /* BAD */
}
""")
    result = kleene.load(source).dataflow(client="taint", roles="escape: cleans 0", device="cpu")
    assert [one.span.line for one in result.findings() if one.span] == [6, 11]


def test_a_mistake_in_the_roles_has_a_place(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="stands where") as error:
        lines(tmp_path, "fetch: taints nobody")
    assert error.value.id == "points-to/bad-model"
    assert error.value.span is not None
    assert error.value.span.line == 1


WRITERS = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char *command = 0, a[20], b[20], c[20], d[20], e[20], f[20], g[20], h[20];
  if (asprintf(&command, "ls %s", getenv("HOME")) < 0) return 1;
  system(command); /* BAD */
  if (scanf("%19s%19s%19s%19s%19s%19s%19s%19s", a, b, c, d, e, f, g, h) != 8) return 1;
  system(h); /* BAD */
  char *p = getpass("x");
  if (p) system(p); /* BAD */
  char text[40], first[20], fifth[20];
  if (!fgets(text, sizeof text, stdin)) return 1;
  int n, m, k;
  if (sscanf(text, "%19s %d %d %d %19s", first, &n, &m, &k, fifth) == 5) system(fifth); /* BAD */
  return 0;
}
"""


def test_functions_that_write_what_comes_from_outside_through_pointers(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(WRITERS)
    found = kleene.load(source).dataflow(client="taint", device="cpu").findings()
    bad = [number for number, line in enumerate(WRITERS.splitlines(), 1) if "BAD" in line]
    assert [one.span.line for one in found if one.span] == bad


# How text comes in: a body that leaves it in `text`. Each is used as a command in another file.
SOURCES = {
    "getenv": 'text = getenv("X");',
    "secure_getenv": 'text = secure_getenv("X");',
    "environ": "text = environ[k];",
    "argv": "text = arguments[k];",
    "envp": "text = variables[k];",
    "optarg": 'if (getopt(k, arguments, "a:") == 97) text = optarg;',
    "read": "read(k, buffer, sizeof buffer);",
    "pread": "pread(k, buffer, sizeof buffer, 0);",
    "readv": "struct iovec parts[1] = {{buffer, sizeof buffer}}; readv(k, parts, 1);",
    "recv": "recv(k, buffer, sizeof buffer, 0);",
    "recvfrom": "recvfrom(k, buffer, sizeof buffer, 0, 0, 0);",
    "recvmsg": "struct iovec part = {buffer, sizeof buffer}; struct msghdr head = {0};"
    " head.msg_iov = &part; head.msg_iovlen = 1; recvmsg(k, &head, 0);",
    "fread": "fread(buffer, 1, sizeof buffer, stdin);",
    "fgets": "fgets(buffer, sizeof buffer, stdin);",
    "fgets_result": "text = fgets(buffer, sizeof buffer, stdin);",
    "getc": "buffer[0] = getc(stdin);",
    "getchar": "for (int i = 0; i < 9; i++) buffer[i] = getchar();",
    "getline": "size_t n = 0; char *line = 0; getline(&line, &n, stdin); text = line;",
    "getdelim": "size_t n = 0; char *line = 0; getdelim(&line, &n, 59, stdin); text = line;",
    "scanf": 'scanf("%d%99s", &k, buffer);',
    "scanf_allocates": 'char *word = 0; scanf("%ms", &word); text = word;',
    "fscanf": 'fscanf(stdin, "%99s", buffer);',
    "vfscanf": 'scanned("%99s", buffer);',
    "readlink": 'readlink("x", buffer, sizeof buffer - 1);',
    "readlinkat": 'readlinkat(k, "x", buffer, sizeof buffer - 1);',
    "readdir": "struct dirent *one = readdir(folder); if (one) text = one->d_name;",
    "getaddrinfo": "struct addrinfo *all = 0;"
    ' if (!getaddrinfo("x", 0, 0, &all)) text = all->ai_canonname;',
    "getnameinfo": "getnameinfo(0, 0, buffer, sizeof buffer, 0, 0, 0);",
    "gethostbyname": 'struct hostent *host = gethostbyname("x"); if (host) text = host->h_name;',
    "getpass": 'text = getpass("?");',
    "mq_receive": "mq_receive(k, buffer, sizeof buffer, 0);",
    "strtok_r": 'char *rest; strtok_r(getenv("X"), " ", &rest); text = strtok_r(0, " ", &rest);',
    "strsep": 'char *rest = getenv("X"); strsep(&rest, ":"); text = strsep(&rest, ":");',
    "realpath": 'text = realpath(getenv("X"), 0);',
    "vsnprintf": 'printed(buffer, "%s", getenv("X"));',
    "asprintf": 'char *made = 0; asprintf(&made, "%d%d%d%d%d%d%d%s", k, k, k, k, k, k, k,'
    ' getenv("X")); text = made;',
    "sscanf": 'sscanf(getenv("X"), "%d%d%d%d%d%d%d%d%d%99s", &k, &k, &k, &k, &k, &k, &k, &k, &k,'
    " buffer);",
    "callback": "text = call(getenv);",
}
# What must not get it: a statement with `text`, or `n`, a number from there, and its harmless twin.
SINKS = {
    "system": ("system(text);", 'system("x");'),
    "popen": ('popen(text, "r");', 'popen("x", text);'),
    "execl": ('execl("a", "b", text, (char *)0);', 'execl("a", "b", (char *)0);'),
    "execlp": ("execlp(text, text, (char *)0);", 'execlp("a", "b", (char *)0);'),
    "execle": ('execle("a", "b", "c", "d", "e", "f", "g", "h", text, (char *)0, environ);',
               'execle("a", "b", (char *)0, environ);'),
    "execv": ('char *words[] = {"sh", "-c", text, 0}; execv("sh", words);',
              'char *words[] = {"sh", "-c", "x", 0}; execv("sh", words);'),
    "execve": ('char *words[] = {text, 0}; execve("sh", words, environ);',
               'char *words[] = {"x", 0}; execve("sh", words, environ);'),
    "execvp": ('char *words[] = {"x", 0}; execvp(text, words);',
               'char *words[] = {"x", 0}; execvp("x", words);'),
    "execvpe": ('char *words[] = {copied(text), 0}; execvpe("x", words, environ);',
                'char *words[] = {"x", 0}; execvpe("x", words, environ);'),
    "posix_spawn": ('char *words[] = {"x", 0}; posix_spawn(&k, text, 0, 0, words, environ);',
                    'char *words[] = {"x", 0}; posix_spawn(&k, "x", 0, 0, words, environ);'),
    "posix_spawnp": ('char *words[] = {text, 0}; posix_spawnp(&k, "x", 0, 0, words, environ);',
                     'char *words[] = {"x", 0}; posix_spawnp(&k, "x", 0, 0, words, environ);'),
    "dlopen": ("dlopen(text, 1);", 'dlopen("x", 1);'),
    "wordexp": ("wordexp_t e; wordexp(text, &e, 0);", 'wordexp_t e; wordexp("x", &e, 0);'),
    "printf": ("printf(text);", 'printf("%s", text);'),
    "fprintf": ("fprintf(stderr, text);", 'fprintf(stderr, "%s", text);'),
    "dprintf": ("dprintf(2, text);", 'dprintf(2, "%s", text);'),
    "sprintf": ("sprintf(buffer, text);", 'sprintf(buffer, "%.9s", text);'),
    "snprintf": ("snprintf(buffer, 9, text);", 'snprintf(buffer, 9, "%s", text);'),
    "asprintf": ("char *p; asprintf(&p, text);", 'char *p; asprintf(&p, "%s", text);'),
    "syslog": ("syslog(1, text);", 'syslog(1, "%s", text);'),
    "vprintf": ("va(1, text);", 'va_good(1, "%s", text);'),
    "warn": ("warn(text);", 'warn("%s", text);'),
    "errx": ("errx(1, text);", 'errx(1, "%s", text);'),
    "error": ("error(0, 0, text);", 'error(0, 0, "%s", text);'),
    "wprintf": ("wprintf((wchar_t *)text);", 'wprintf(L"%s", text);'),
    "sscanf": ('sscanf("x", text);', 'sscanf(text, "x");'),
    "memcpy": ("memcpy(buffer, zeros, n);", "if (n < 100) memcpy(buffer, zeros, n);"),
    "memmove": ("memmove(buffer, zeros, n);", "if (n < 100) memmove(buffer, zeros, n);"),
    "memset": ("memset(buffer, 0, n);", "memset(buffer, 0, n & 63);"),
    "strncpy": ("strncpy(buffer, zeros, n);", "strncpy(buffer, zeros, n % 64);"),
    "bzero": ("bzero(buffer, n);", "bzero(buffer, n > 64 ? 64 : n);"),
    "read": ("read(0, buffer, n);", "read(0, buffer, n > 64 ? 64 : n);"),
    "malloc": ("free(malloc(n));", "if (n < 100) free(malloc(n));"),
    "calloc": ("free(calloc(n, 4));", "if (n < 100) free(calloc(n, 4));"),
    "realloc": ("free(realloc(0, n));", "if (n < 100) free(realloc(0, n));"),
    "aligned_alloc": ("free(aligned_alloc(8, n));", "if (n < 100) free(aligned_alloc(8, n));"),
    "posix_memalign": ("void *p; posix_memalign(&p, 8, n);",
                       "void *p; if (n < 100) posix_memalign(&p, 8, n);"),
    "alloca": ("keep(__builtin_alloca(n));", "if (n < 100) keep(__builtin_alloca(n));"),
    "array": ("char all[n]; keep(all);", "if (n < 100) { char all[n]; keep(all); }"),
    "by_value": ("struct job job = {1, {0}}; strncpy(job.text, text, 63); started(job);",
                 "struct job job = {1, {0}}; strncpy(job.text, zeros, 63); good_started(job);"),
    "pointer": ("int (*run)(const char *) = k ? system : puts; run(text);",
                'int (*run)(const char *) = k ? system : puts; run("x");'),
}  # fmt: skip
IN_CALLEE = ("vprintf", "by_value")  # whose sinks are in OTHER
HEAD = """
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <error.h>
#include <mqueue.h>
#include <netdb.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>
struct job { int k; char text[64]; };
void started(struct job job);
void good_started(struct job job);
void keep(void *);
char *copied(const char *text);
void va(int k, const char *format, ...);
void va_good(int k, const char *format, ...);
"""
HELP = """
static char zeros[100];
static char **arguments, **variables;
static DIR *folder;
static int scanned(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int n = vfscanf(stdin, format, rest);
  va_end(rest);
  return n;
}
static int printed(char *to, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int n = vsnprintf(to, 100, format, rest);
  va_end(rest);
  return n;
}
static char *call(char *(*f)(const char *)) { return f("X"); }
"""
OTHER = """
void started(struct job job) { system(job.text); } /* BAD */
void good_started(struct job job) { system(job.text); }
char *copied(const char *text) { return strdup(text); }
void va(int k, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vprintf(format, rest); /* BAD */
  va_end(rest);
}
void va_good(int k, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  vprintf(format, rest);
  va_end(rest);
}
"""


def two_files(folder: Path) -> None:
    """Write every source with a sink, and every sink with a source, across two files."""
    here, there, calls = [HEAD, HELP], [HEAD, OTHER], []
    for name, body in SOURCES.items():
        begin = f'int k) {{ char buffer[100] = "", *text = buffer; {body}'
        for twin, passed in (("bad", "text"), ("good", '"x"')):
            mark = " /* BAD */" if twin == "bad" else ""
            here.append(f"void run_{twin}_{name}(const char *text);")
            here.append(f"void {twin}_{name}({begin} run_{twin}_{name}({passed}); }}")
            there.append(f"void run_{twin}_{name}(const char *text) {{ system(text); }}{mark}")
            calls.append(f"{twin}_{name}(k);")
    for name, bodies in SINKS.items():
        for twin, body in zip(("bad", "good"), bodies, strict=True):
            mark = "" if twin == "good" or name in IN_CALLEE else " /* BAD */"
            head = f"void use_{twin}_{name}(char *text, size_t n, int k)"
            there.append("static char zeros[100], buffer[100];" if name == "system" else "")
            there.append(f"{head} {{ {body} }}{mark}")
            here.append(f"{head};")
            calls.append(f'use_{twin}_{name}(getenv("X"), strtoul(getenv("N"), 0, 10), k);')
    here.append("int main(int k, char **argv, char **envp) {")
    here += ['arguments = argv; variables = envp; folder = opendir(".");', *calls, "}"]
    (folder / "here.c").write_text("\n".join(here))
    (folder / "there.c").write_text("\n".join(there))


def test_each_source_and_each_sink_of_the_library_across_two_files(tmp_path: Path) -> None:
    two_files(tmp_path)
    result = kleene.load(tmp_path, flags=["-w"]).dataflow(client="taint", device="cpu")
    lines = (tmp_path / "there.c").read_text().splitlines()
    bad = {line for line in lines if "BAD" in line}
    found = {lines[one.span.line - 1] for one in result.findings() if one.span}
    assert (sorted(bad - found), sorted(found - bad)) == ([], [])


LENGTHS = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct input { size_t n; char text[64]; size_t behind; };
extern struct input *unknown(void);
static char to[100];
int main(int argc, char **argv) {
  struct input in = {argc, {0}, argc};
  fread(in.text, 1, 63, stdin);
  memcpy(to, in.text, in.n); /* before what comes in */
  memcpy(to, in.text, in.behind); /* BAD */
  char *comma = strchr(argv[1], ',');
  if (comma) memcpy(to, argv[1], comma - argv[1]); /* the length of a text that is there */
  struct input *other = unknown();
  memcpy(to, other->text, other->n); /* nothing is known of it */
  char *storage = malloc(4096);
  ssize_t n = storage ? read(0, storage, 4096) : 0;
  for (char *at = storage; at < storage + n;) {
    uint32_t length = *(uint32_t *)at;
    memcpy(to, at + 4, length); /* BAD */
    at += length + 4;
  }
}
"""


def test_lengths_that_come_from_outside_and_those_that_do_not(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(LENGTHS)
    found = kleene.load(source).dataflow(client="taint", device="cpu").findings()
    bad = [number for number, line in enumerate(LENGTHS.splitlines(), 1) if "BAD" in line]
    assert [one.span.line for one in found if one.span] == bad
