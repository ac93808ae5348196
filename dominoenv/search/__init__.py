"""For search: the longest train of a hand, determinisation, playouts."""
