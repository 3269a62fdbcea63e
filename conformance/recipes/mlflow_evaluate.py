import mlflow
import pandas as pd

import calibstat as cs


def ece_high(predictions, targets, metrics):
    return cs.confidence_interval(targets, predictions, measure="ece", rng=0).high


def reliability(eval_df, builtin_metrics, artifacts_dir):
    return {"reliability": cs.plot(cs.reliability(eval_df.target, eval_df.prediction, rng=0)).figure}


y, p = cs.generators.temperature(1.5).sample(2000, rng=0)
metric = mlflow.models.make_metric(eval_fn=ece_high, greater_is_better=False)
rows = {"data": pd.DataFrame({"y": y * 1.0, "p": p}), "targets": "y", "predictions": "p"}
found = mlflow.models.evaluate(**rows, extra_metrics=[metric], custom_artifacts=[reliability])
print(f"ece_high {found.metrics['ece_high']:.6f}; {found.artifacts['reliability'].uri.rpartition('/')[2]}")
