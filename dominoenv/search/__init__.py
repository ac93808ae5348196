"""For search: the longest train of a hand, hidden tiles dealt anew, positions played to the end."""
