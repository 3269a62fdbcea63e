"""Monte Carlo studies: does a test keep its level, does an interval cover what it says, which measure to trust?"""

from calibstat.plots.studies.table_plot import plot
from calibstat.study.runner import run
from calibstat.study.study import Study
from calibstat.study.study_file import load_study
from calibstat.study.study_options import Option
from calibstat.study.study_tables import most_rejections, write_table

__all__ = ["Option", "Study", "load_study", "most_rejections", "plot", "run", "write_table"]
