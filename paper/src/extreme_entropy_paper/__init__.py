"""The paper "Extreme Entropy Machines", reproduced: its data, tables, figures and benchmarks.

Not part of the library's wheel. It runs from a checkout, whose folders hold the rows and pages.
"""
