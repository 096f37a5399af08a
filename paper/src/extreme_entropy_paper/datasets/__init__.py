"""The data sets of the paper, found or fetched, and proved to be the right ones.

>>> from extreme_entropy_paper.datasets import load_dataset
>>> X, y = load_dataset("balance", return_X_y=True)
>>> X.shape, int((y > 0).sum())
((625, 4), 49)
"""

from .loading import LoadedDataset, list_datasets, load_dataset
from .registry import Dataset

__all__ = ["Dataset", "LoadedDataset", "list_datasets", "load_dataset"]
