"""What no game decides: tiles, random streams, rules options, layouts, compiling, files."""
