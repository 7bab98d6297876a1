"""From a language's text to one `Program`; what a language means is known here only."""
