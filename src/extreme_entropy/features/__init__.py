"""φ: x ↦ h. Scaling, random neurons, kernels and landmarks."""
