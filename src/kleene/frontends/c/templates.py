"""The library's templates as instantiated: headers of the bundled libc++ without `extern template`.

libc++ declares its streams, strings and facets as instantiated elsewhere (`extern template class
basic_ostream<char>;`), so that a module which uses them has calls and no bodies. Without these
declarations the compiler instantiates what a module uses, where it uses it. The edited headers lie
in a folder of the compilation, under their own names (clang's file overlay): lines and paths in
debug information stay. libstdc++ has a macro for the same (see `compiler`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

# Where libc++ of LLVM 17 to 22 has them; what another version has elsewhere stays declared.
_HEADERS = (
    *("__algorithm/sort.h", "__locale", "__locale_dir/messages.h"),
    *("__locale_dir/money.h", "__locale_dir/num.h", "__locale_dir/time.h"),
    *("__ostream/basic_ostream.h", "fstream", "ios", "istream", "locale", "ostream", "sstream"),
    *("streambuf", "string", "valarray"),
)
OVERLAY = "overlay.json"  # which is YAML too
_DECLARATION = re.compile(r"extern template\b[^;\\]*;")


def without_declarations(text: str) -> str:
    """Return a header's text without its explicit instantiation declarations; lines stay."""
    return _DECLARATION.sub(lambda found: "\n" * found[0].count("\n"), text)


def write_overlay(headers: Path, folder: Path) -> None:
    """Write `OVERLAY`, which tells clang to read the headers of libc++ as edited, in `folder`."""
    roots = []
    for name in _HEADERS:
        header, edited = headers / name, folder / name.replace("/", "-")
        if header.is_file():
            edited.write_text(without_declarations(header.read_text("utf-8")), "utf-8")
            contents = {"type": "file", "external-contents": str(edited)}
            roots.append({"name": str(header), **contents})
    whole = {"version": 0, "use-external-names": False, "roots": roots}
    (folder / OVERLAY).write_text(json.dumps(whole), "utf-8")
