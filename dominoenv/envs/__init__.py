"""Adapters of the games to PettingZoo, Gymnasium and Stable-Baselines3; they decide no rule."""
