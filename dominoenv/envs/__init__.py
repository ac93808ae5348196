"""Skins over the games: PettingZoo and Stable-Baselines3 doors. No rule is decided here."""
