"""At which rate does each measure converge?

The grid and the figure are in calibstat/studies/consistency.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "consistency", "--out", str(Path(__file__).parent), *sys.argv[1:]])
