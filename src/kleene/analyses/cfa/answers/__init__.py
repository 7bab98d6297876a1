"""What a solved control-flow problem says, in the program's own words."""
