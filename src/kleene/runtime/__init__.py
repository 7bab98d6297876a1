"""What runs beside observed code: tracers."""
