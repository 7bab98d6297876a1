"""The models of the C library against its headers: what a declaration says that a model must say.

A function without a model may do anything with what it is given (`test_library_runs`), so only a
model can be wrong. The headers are those of the bundled compiler.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from kleene.analyses.points_to.library.language import Calls, Model, Returns, parse_models

LIBRARY = Path(str(files("kleene.analyses.points_to.library"))) / "models"
HEADERS = """
aio argp argz arpa/inet assert ctype dirent dlfcn envz err errno error execinfo fcntl fmtmsg fnmatch
fts ftw getopt glob grp iconv ifaddrs inttypes langinfo libgen libintl limits link locale malloc
math mcheck mntent monetary mqueue net/if netdb netinet/ether nl_types obstack poll printf pthread
pty pwd regex resolv sched search semaphore setjmp shadow signal spawn stdio stdio_ext stdlib string
strings sys/auxv sys/epoll sys/eventfd sys/file sys/inotify sys/ioctl sys/ipc sys/mman sys/mount
sys/msg sys/prctl sys/ptrace sys/random sys/resource sys/select sys/sem sys/sendfile sys/shm
sys/signalfd sys/socket sys/stat sys/statfs sys/statvfs sys/sysinfo sys/time sys/timerfd sys/times
sys/timex sys/types sys/uio sys/utsname sys/vfs sys/wait sys/xattr syslog termios threads time uchar
ucontext ulimit unistd utime utmp utmpx wchar wctype wordexp
"""
DECLARATION = re.compile(r"(?:extern )?([\w *]+?)\b(\w+) ?\((.*)\)[^()]*$")
NO_MEANING = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|__asm__\s*\([^)]*\)")


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """The type that each function returns, and its parameters, as text."""
    source = tmp_path_factory.mktemp("headers") / "all.c"
    parts = (f"#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n" for h in HEADERS.split())
    source.write_text("#define _GNU_SOURCE 1\n" + "".join(parts))
    command = ("-target", "x86_64-linux-gnu", "-E", "-P", str(source))
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *command],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found = {}
    for text in re.split(r"[;{}]", done.stdout):
        if match := DECLARATION.match(" ".join(NO_MEANING.sub("", text).split())):
            found[match[2]] = (match[1], match[3])
    assert len(found) > 2000
    return found


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    names = ("10_c.txt", "20_posix.txt", "22_gnu.txt")
    lines = [line for n in names for line in parse_models((LIBRARY / n).read_text("utf-8"), n)]
    return {name: model for names, model in lines for name in names}


def test_a_function_that_returns_a_pointer_has_a_model_that_does(
    declared: dict[str, tuple[str, str]], models: dict[str, Model]
):
    pointers = {name for name in models if name in declared and "*" in declared[name][0]}
    assert len(pointers) > 200
    without = {n for n in pointers if not any(isinstance(e, Returns) for e in models[n])}
    assert without == set()


def test_a_function_that_is_given_a_function_has_a_model_that_calls(
    declared: dict[str, tuple[str, str]], models: dict[str, Model]
):
    callback = re.compile(r"\(\s*\*|__compar_d?_?fn_t|__sighandler_t|start_routine")
    given = {n for n in models if n in declared and callback.search(declared[n][1])}
    assert len(given) > 30
    without = {n for n in given if not any(isinstance(e, Calls) for e in models[n])}
    assert without == set()
