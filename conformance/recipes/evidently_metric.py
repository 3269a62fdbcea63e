import pandas as pd
from evidently import Dataset, Report
from evidently.core.metric_types import SingleValueCalculation, SingleValueMetric

import calibstat as cs


class ECE(SingleValueMetric): ...


class ECECalculation(SingleValueCalculation[ECE]):
    def calculate(self, context, current_data, reference_data):
        rows = current_data.as_dataframe()
        return self.result(cs.confidence_interval(rows.y, rows.p, measure="ece", rng=0).high)

    def display_name(self):
        return "ECE, upper end"


y, p = cs.generators.temperature(1.5).sample(2000, rng=0)
found = Report([ECE()]).run(Dataset.from_pandas(pd.DataFrame({"y": y, "p": p})))
print(f"{found.dict()['metrics'][0]['value']:.6f}")
