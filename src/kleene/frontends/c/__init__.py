"""C and C++ in: paths, to one verified LLVM module, to one `Program`."""

from kleene.frontends.c.driver import load

__all__ = ["load"]
