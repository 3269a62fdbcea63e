"""Do measures put models in the same order, and in the right one?

The grid and the figure are in calibstat/studies/ranking.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "ranking", "--out", str(Path(__file__).parent), *sys.argv[1:]])
