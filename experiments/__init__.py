"""Programs: train, evaluate, tournaments, studies, figures.

`dominoenv train ...` runs them; from a clone `python -m experiments.train ...` does too. A wheel
carries them as `dominoenv.experiments`, so they import each other relatively.
"""

import os

# Where torch is given several threads: those that wait for the others must not spin. On a busy
# machine that multiplies the time of a training. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
