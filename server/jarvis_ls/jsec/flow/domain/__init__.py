"""The abstract domain: values, regions of memory, states, and the faults they prove."""
