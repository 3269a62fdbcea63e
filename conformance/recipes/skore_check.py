from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from skore import Check, EstimatorReport

import calibstat as cs


class Calibration(Check):
    code, title, report_types, severity = "CAL001", "Not calibrated", ["estimator"], "issue"

    def check_function(self, report):
        test = cs.calibration_test(report.y_test, cs.predict(report.estimator_, report.X_test), rng=0)
        return test.answer if test.pvalue < 0.05 else None


x, y = make_classification(2000, n_informative=8, random_state=0)
report = EstimatorReport(GaussianNB(), X_train=x[:1000], y_train=y[:1000], X_test=x[1000:], y_test=y[1000:])
report.checks.add([Calibration()])
print(*report.checks.summarize().frame(section="issue").explanation, sep="\n")
