"""`python -m kleene` is `kleene`."""

from kleene.cli import main

main()
