"""The games: what each one owns in a folder of its own, and what drives any of them."""
