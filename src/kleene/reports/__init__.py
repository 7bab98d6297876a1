"""Results as people and programs read them: text, JSON, SARIF, HTML, SVG."""
