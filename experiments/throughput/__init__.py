"""How fast the library is, beside plain C and PettingZoo's own environments, in one run."""
