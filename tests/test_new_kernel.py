"""A kernel is added as CONTRIBUTING.md says, in features/kernels.py and export/features.py."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import extreme_entropy

LAYER = '''
@dataclass(frozen=True, slots=True)
class InverseQuadric(HiddenLayer):
    """1 / (1 + γ‖z−l‖²)."""

    landmarks: Annotated[Array, Numbers("hidden", "seen")]
    gamma: float

    def __call__(self, Z: Array, out: Array | None = None) -> Array:
        squares = cdist(Z, self.landmarks, "sqeuclidean")
        return (1 / (1 + self.gamma * squares)).astype(Z.dtype, copy=False)


KernelLayer = InverseQuadric | '''

CASE = """    if kernel == "inverse":
        return InverseQuadric(landmarks, gamma)
    if kernel == "rbf":
"""

OPERATORS = '''

from ..features.kernels import InverseQuadric


def _inverse(g, layer, z):
    """‖z−l‖² as ‖z‖² − 2⟨z,l⟩ + ‖l‖²."""
    product = g("MatMul", z, g.real(-2 * layer.landmarks.T))
    lengths = g.real((layer.landmarks**2).sum(axis=1))
    squares = g("Add", g("Add", product, g.row_sums(g("Mul", z, z))), lengths)
    return g("Reciprocal", g("Add", g("Mul", squares, g.real(layer.gamma)), g.real(1)))


LAYERS[InverseQuadric] = _inverse
'''

USE = """
import sys
import numpy as np
import onnxruntime
from scipy.spatial.distance import cdist
from extreme_entropy import EEKMClassifier, load

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
classifier = EEKMClassifier(40, kernel="inverse", gamma=0.7, random_state=0).fit(X, y)
[part] = classifier.feature_map_.only().parts
Z = classifier.feature_map_.scaled(X)
expected = 1 / (1 + 0.7 * cdist(Z, part.layer.landmarks, "sqeuclidean"))
np.testing.assert_allclose(part.layer(Z), expected)
assert classifier.score(X, y) > 0.85
assert part.first(10).layer.size == 10

classifier.save("new.eem")
np.testing.assert_array_equal(load("new.eem").predict_proba(X), classifier.predict_proba(X))

contributions, decisions = classifier.explain(X), classifier.decision_function(X)
base = decisions - contributions.sum(axis=1)
np.testing.assert_allclose(base, base[0], atol=1e-6)

classifier.to_onnx("new.onnx")
session = onnxruntime.InferenceSession("new.onnx")
p = session.run(["probabilities"], {session.get_inputs()[0].name: X})[0]
np.testing.assert_allclose(p, classifier.predict_proba(X), atol=1e-6)
"""


def test_a_kernel_is_one_class_one_name_one_case_and_its_operators(tmp_path):
    """It is fitted, cut, saved, explained and exported without another line anywhere."""
    library = tmp_path / "extreme_entropy"
    source = Path(extreme_entropy.__file__).parent
    shutil.copytree(source, library, ignore=shutil.ignore_patterns("__pycache__"))
    kernels = library / "features" / "kernels.py"
    text = kernels.read_text(encoding="utf-8")
    for place, added in (
        ('Kernel = Literal["mixed", ', 'Kernel = Literal["mixed", "inverse", '),
        ('    if kernel == "rbf":\n', CASE),
        ("\nKernelLayer = ", LAYER),
    ):
        assert text.count(place) == 1, place
        text = text.replace(place, added)
    kernels.write_text(text, encoding="utf-8")
    with (library / "export" / "features.py").open("a", encoding="utf-8") as operators:
        operators.write(OPERATORS)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", USE]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
