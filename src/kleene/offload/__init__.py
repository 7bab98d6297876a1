"""Loops worth a GPU kernel: whether they may become one, what moves, how memory is accessed."""
