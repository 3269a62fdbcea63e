"""Does every test keep its level?

The grid and the figure are in calibstat/studies/size.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "size", "--out", str(Path(__file__).parent), *sys.argv[1:]])
