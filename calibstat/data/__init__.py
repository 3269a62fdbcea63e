"""Input data: checks, samples of one event, predictions of K classes, and lenses that look at them."""
