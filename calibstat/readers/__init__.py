"""Outcomes and confidences from the files of other programs, as the rows that calibstat's functions take.

Each reader knows the versions that wrote the files it was tested on, and refuses others by name.
"""

from calibstat.readers.inspect_logs import inspect_ai
from calibstat.readers.json_lines import json_lines
from calibstat.readers.lm_eval_samples import lm_eval

__all__ = ["inspect_ai", "json_lines", "lm_eval"]
