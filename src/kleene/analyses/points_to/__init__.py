"""Which objects may each pointer hold? Andersen's analysis of a whole program."""
