"""Labels of counted rows drawn given the predictions, counted in groups that are unions of atoms."""

from __future__ import annotations

import numpy as np

from calibstat.data.sample import Sample
from calibstat.resampling.binary_cells import labels_in_cells
from calibstat.resampling.schemes import Draws, Labels
from calibstat.resampling.sources import AtomSums, CellSums, OfLabels


def positives_of_atoms(source: AtomSums, scheme: Labels, statistic: OfLabels, draws: Draws, stream: int) -> np.ndarray:
    """Return ``statistic(positives)`` of all resamples: of each atom in each stratum the sum of its rows is drawn."""
    place = source.atom * source.size + source.stratum
    order = np.lexsort((source.prediction, place))
    here, cell = np.unique(place[order], return_inverse=True)
    number = source.number[order]
    sample = Sample(source.prediction[order], number, np.zeros(number.size))
    atom, stratum = np.divmod(here, source.size)

    def of_groups(_: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        ones = np.rint((residual + value) * sample.n)
        positives = np.zeros((len(ones), len(source.member), source.size))
        for s in np.unique(stratum):
            at = stratum == s
            positives[:, :, s] = ones[:, at] @ source.member[:, atom[at]].T
        return statistic(positives)

    return labels_in_cells(CellSums(sample, cell), scheme, of_groups, draws, stream)
