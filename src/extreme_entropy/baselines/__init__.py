"""The baselines of the paper: ELM, WELM and LS-SVM."""
