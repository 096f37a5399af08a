"""The two classifiers, as scikit-learn estimators."""
