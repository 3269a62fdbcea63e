"""How far off is each estimate, over rows and bins? The grid, the call and the figure: calibstat/studies/bias.py."""

import sys
from pathlib import Path

from calibstat.cli import app

app(["study", "bias", "--out", str(Path(__file__).parent), *sys.argv[1:]])
