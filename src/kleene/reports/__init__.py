"""What people and programs read: graphs as DOT or SVG, data as JSON."""
