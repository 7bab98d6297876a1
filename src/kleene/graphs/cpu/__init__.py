"""The compiled loops behind the graph algorithms; imported on first use, for Numba is heavy.

Every function takes a graph as its two arrays and uses explicit stacks, never recursion.
"""
