"""Loops of a program: the tree of functions and statements, and the tables made from it."""
