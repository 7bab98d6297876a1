"""Problem to solution: engines that know no language."""
