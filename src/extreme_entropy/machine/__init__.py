"""Summary ↦ decision. Covariance, the operator β, and the decision F on the line."""
