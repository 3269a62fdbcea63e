"""The 32 general calibration errors (GCE) of Nixon et al. (2019), some of which have names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import is_number
from calibstat.digits import settled
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.gce import l1_and_l2
from calibstat.result import Result, read_only

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("index", "name", "binning", "max_prob", "class_conditional", "threshold", "norm", "value")


@dataclass(frozen=True, eq=False)
class GceFamily(Result):
    """Result of `gce_family`: the 32 general calibration errors, in the order of their index.

    The named members are also readable by name, as in ``family["SCE"]``.

    Attributes
    ----------
    index : ndarray of int64, shape (32,)
        16 if adaptive + 8 if all probabilities + 4 if the classes are pooled + 2 if thresholded + 1 if L2.
    name : ndarray of str, shape (32,)
        "ECE", "class-conditional ECE", "SCE", "ACE", "TACE" or "RMSCE"; empty for the members without a name.
    binning : ndarray of str, shape (32,)
        "even" for bins of equal width, "adaptive" for as near equal numbers of probabilities as ties allow.
    max_prob : ndarray of bool, shape (32,)
        Whether only the largest probability of each row is used.
    class_conditional : ndarray of bool, shape (32,)
        Whether each class has separate bins.
    threshold : ndarray of float64, shape (32,)
        Only probabilities above it are used.
    norm : ndarray of str, shape (32,)
        "l1" or "l2".
    value : ndarray of float64, shape (32,)
        The error, from 0 to 1.
    n_bins : int, "cube_root" or None
        Number of bins, as given.
    ties : {"together", "split"}
        What became of equal probabilities at the end of an adaptive bin, as given.
    n, n_classes : int
        Rows and classes.
    """

    index: np.ndarray
    name: np.ndarray
    binning: np.ndarray
    max_prob: np.ndarray
    class_conditional: np.ndarray
    threshold: np.ndarray
    norm: np.ndarray
    value: np.ndarray
    n_bins: int | str | None
    ties: str
    n: int
    n_classes: int

    def __getitem__(self, name: str) -> float:
        if not name or name not in self.name:
            raise KeyError(f"expected one of {', '.join(filter(None, self.name))}; found {name!r}")
        return float(self.value[self.name == name][0])

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each of the 32 errors."""
        import pandas as pd

        return pd.DataFrame({column: getattr(self, column) for column in COLUMNS})

    def __str__(self) -> str:
        above = f"above {self.threshold.max():g}"
        norms = f"{'L1':>12}{'L2':>12}{f'L1 {above}':>16}{f'L2 {above}':>16}"
        shared = ", ties split" if self.ties == "split" else ""
        lines = [
            f"General calibration error, {self.n_classes} classes, n_bins = {self.n_bins}, n = {self.n}{shared}",
            f"{'bins':<10}{'probabilities':<15}{'classes':<10}{norms}",
        ]
        for i in range(0, self.value.size, 4):
            probabilities = "largest" if self.max_prob[i] else "all"
            classes = "apart" if self.class_conditional[i] else "together"
            l1, l2, l1_above, l2_above = self.value[i : i + 4]
            values = f"{settled(l1):>12.4g}{settled(l2):>12.4g}{settled(l1_above):>16.4g}{settled(l2_above):>16.4g}"
            lines.append(f"{self.binning[i]:<10}{probabilities:<15}{classes:<10}{values}")
        lines.append(", ".join(f"{name} = {settled(self[name]):.4g}" for name in self.name if name))
        return "\n".join(lines)


PLAIN: dict[str, Any] = {
    "binning": "even",
    "max_prob": False,
    "class_conditional": True,
    "threshold": 0.0,
    "norm": "l1",
    "ties": "together",
    "region": "all",
    "class_weight": None,
}
PAPERS: dict[str, dict[str, Any]] = {  # options of `gce`, beside those that are PLAIN, to which papers give a name
    "class-conditional ECE": {"max_prob": True},
    "ECE": {"max_prob": True, "class_conditional": False},
    "SCE": {},
    "RMSCE": {"binning": "adaptive", "max_prob": True, "class_conditional": False, "norm": "l2"},
    "ACE": {"binning": "adaptive"},
    "TACE": {"binning": "adaptive", "threshold": 0.01},
}


# the order in which `product` counts is the order of the index; of the threshold here only whether there is one
SWITCHES = tuple(product(("even", "adaptive"), (True, False), (True, False), (False, True), ("l1", "l2")))
VARIANTS = {
    SWITCHES.index(
        tuple((PLAIN | options | {"threshold": "threshold" in options})[each] for each in COLUMNS[2:7])
    ): name
    for name, options in PAPERS.items()
}


@question()
def gce_family(
    rows: Data,
    /,
    *,
    n_bins: int | str | None = 15,
    threshold: float = 0.01,
    ties: str = "together",
    **about: Unpack[AboutRows],
) -> GceFamily:
    """Return the general calibration error under all 32 combinations of its five switches.

        >>> import calibstat as cs
        >>> y, p = [0, 1], [[0.75, 0.25], [0.5, 0.5]]
        >>> family = cs.gce_family(y, p, n_bins=2)
        >>> family["SCE"], family["ACE"], family["ECE"]
        (0.25, 0.375, 0.375)

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`, with all classes.
    n_bins : int, "cube_root", "100 rows" or None
        Number of bins, or the smallest whose cube is at least n, or n / 100, rounded down (or any other number of
        rows); None makes one bin of each distinct probability.
    threshold : float
        Above 0 and below 1: the thresholded half of the family keeps probabilities above it, the other those above 0.
    ties : {"together", "split"}
        Whether equal probabilities stay in one adaptive bin, or are shared between two so that bins are equal, as those
        of Nixon et al. are. It matters if there are few distinct ones, as after histogram binning.

    Returns
    -------
    GceFamily
        The errors with their switches, in the order of the index of Nixon et al.; ``family["SCE"]`` is one by name.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), the threshold is not above 0 and below 1,
        `ties` is another word, or `n_bins` is not as described.

    Notes
    -----
    Each value is ``gce`` of `MEASURES` with these switches; ``estimate(..., measure="gce", binning="adaptive")`` is ACE
    alone, and the page "Names in other packages" has the others. With `max_prob` the thresholded members equal the
    others unless some row has no probability above the threshold, which takes at least 1 / threshold classes. All are
    biased upwards in finite samples: a calibrated model does not have 0. Cost: adaptive bins over all probabilities
    decide, with four sorts of n K numbers.

    References
    ----------
    Nixon, Dusenberry, Jerfel, Nguyen, Liu, Zhang, Tran 2019, arXiv:1904.01685.
    """
    if not (is_number(threshold) and 0 < threshold < 1):
        raise ValueError(f"expected a threshold above 0 and below 1, found {threshold!r}")
    predictions = rows.predictions
    switches: list[tuple[Any, ...]] = [
        (*ways, float(threshold) if thresholded else 0.0, norm) for *ways, thresholded, norm in SWITCHES
    ]
    binning, max_prob, class_conditional, least, norm = (
        read_only(np.array(column)) for column in zip(*switches, strict=True)
    )
    value = [
        l1_and_l2(
            predictions.prob,
            predictions.label[np.newaxis],
            binning=switch[0],
            max_prob=switch[1],
            class_conditional=switch[2],
            threshold=switch[3],
            n_bins=n_bins,
            ties=ties,
        )[0]
        for switch in switches[::2]  # every second one: two norms come of one set of bins
    ]
    return GceFamily(
        index=read_only(np.arange(32)),
        name=read_only(np.array([VARIANTS.get(i, "") for i in range(32)])),
        binning=binning,
        max_prob=max_prob,
        class_conditional=class_conditional,
        threshold=least,
        norm=norm,
        value=read_only(np.concatenate(value)),
        n_bins=n_bins,
        ties=ties,
        n=predictions.n,
        n_classes=predictions.n_classes,
    )
