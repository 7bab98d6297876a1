"""Sphinx configuration: Markdown pages, furo, the API read from docstrings."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Kleene"
author = "The Kleene maintainers"
copyright = "the Kleene maintainers, Apache-2.0"
release = installed_version("kleene")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "benchmark_results",
]
exclude_patterns = ["_build", "_extensions"]
html_theme = "furo"
html_title = f"Kleene {release}"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "code"  # docstrings write `name` as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"

# Prompts and output are not copied with the command.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
