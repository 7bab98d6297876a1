"""From the tables of a program to the rows of an inclusion problem, one part per kind of code."""
