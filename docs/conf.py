"""Sphinx configuration: Markdown pages, furo, the API read from docstrings."""

from importlib.metadata import version as installed_version

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
]
exclude_patterns = ["_build"]
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
