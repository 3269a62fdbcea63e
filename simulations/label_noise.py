"""What does label noise do to a model and to its errors?

The grid and the figure are in calibstat/studies/label_noise.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "label_noise", "--out", str(Path(__file__).parent), *sys.argv[1:]])
