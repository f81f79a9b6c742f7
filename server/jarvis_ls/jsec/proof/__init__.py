"""Evidence by execution: whether a finding can be reproduced, refuted or only survived."""
