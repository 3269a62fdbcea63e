"""Does every test keep its level? The grid, the call and the figure: calibstat/studies/size.py."""

import sys
from pathlib import Path

from calibstat.cli import app

app(["study", "size", "--out", str(Path(__file__).parent), *sys.argv[1:]])
