"""scikit-learn's view of the machine."""
