"""One file is one command: a function `run` with Typer annotations and a docstring."""
