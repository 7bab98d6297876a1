"""The museum as bitcode: what the bit reader reads, and what it leaves to LLVM."""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from tests.frontends.c.reader.test_against_llvm import MUSEUM

# Lines that it leaves to LLVM, by what is in them, and a body.
LEFT = (r"^%\d+ = type", r"@unnamed.type", "ptrauth", "extractelement \\(", r'target\("')
LEFT_BODY = r"^define [^\n]*@vectors\.scalable\(.*?^}\n"


def readable() -> str:
    """Return the museum without what is left to LLVM."""
    text = re.sub(LEFT_BODY, "", MUSEUM.read_text(), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(
        line for line in text.split("\n") if not any(re.search(left, line) for left in LEFT)
    )


def bitcode(text: str) -> bytes:
    """Return the bitcode of a text."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    raw: bytes = module.as_bitcode()
    return raw


def printed(raw: bytes) -> bytes:
    """Return what LLVM prints of bitcode, in a context of its own, where no name is taken."""
    return str(llvm.parse_bitcode(raw, llvm.create_context())).encode()
