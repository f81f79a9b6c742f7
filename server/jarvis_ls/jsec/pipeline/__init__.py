"""The pipeline with models: candidates, clusters, review, analysis, verification, report."""
