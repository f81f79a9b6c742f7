"""From reports to findings: merging, suppressions, baseline, findings that flow proved."""
