"""A person in the terminal: a session of play, saved and resumed, and the command line."""
