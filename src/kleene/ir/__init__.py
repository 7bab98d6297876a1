"""Columnar program tables: builder, verifier, text form, store."""

from kleene.ir.program import Program

__all__ = ["Program"]
