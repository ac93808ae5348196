"""Programs: train, evaluate, tournaments, studies, figures.

`dominoenv train ...` runs them; from a clone `python -m experiments.train ...` does too. A wheel
carries them as `dominoenv.experiments`, so they import each other relatively.
"""
