"""Programs to programs: values in, new values out."""
