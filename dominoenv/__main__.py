"""`python -m dominoenv COMMAND`: the command `dominoenv`."""

import sys

from dominoenv.console.commands import main

if __name__ == "__main__":
    sys.exit(main())
