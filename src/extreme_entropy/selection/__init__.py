"""Choosing hyper-parameters: by cross-validation in one pass, or by divergence without any."""
