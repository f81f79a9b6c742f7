"""Ask models: providers, groups of models, retries, logs, totals."""
