"""Summary ↦ decision. Shrunk covariances, the operator β, and the decision F on its projections."""
