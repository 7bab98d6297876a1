"""What a solved points-to problem says: sets, aliases, calls, effects, reasons."""
