"""The order of the scripts of the gallery: what most readers look for comes first."""

from __future__ import annotations

FIRST = (
    "plot_classifier_to_report.py",
    "plot_llm_confidences.py",
    "plot_external_validation.py",
    "plot_how_many_bins.py",
    "plot_hosmer_lemeshow.py",
    "plot_cross_validated.py",
    "plot_class_weights.py",
    "plot_choosing_a_margin.py",
    "plot_few_labels.py",
    "plot_audit.py",
    "plot_monitoring.py",
    "plot_new_hospital.py",
    "plot_many_classes.py",
    "plot_thousand_classes.py",
    "plot_forecaster_corp.py",
    "plot_larger_than_memory.py",
    "plot_study.py",
    "plot_generators.py",
)


class MostUsefulFirst:
    """The place of a script, for sphinx-gallery, which makes one of these for the folder of a section."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        """Return the place of a script; a script that is not in the list is an error."""
        return FIRST.index(name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
