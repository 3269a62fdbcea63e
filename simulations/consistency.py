"""At which rate does each estimate converge? The grid, the call and the figure: calibstat/studies/consistency.py."""

import sys
from pathlib import Path

from calibstat.cli import app

app(["study", "consistency", "--out", str(Path(__file__).parent), *sys.argv[1:]])
