"""What the default chooses on sampled rows: by leaving each out, and where it cuts them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax
from scipy.stats import norm

from extreme_entropy.drawing import table_spec
from extreme_entropy.drawing.cutting import NodeRows, cut_rows, middle_of
from extreme_entropy.drawing.dual import (
    Choice,
    Dual,
    DualRows,
    best_choice,
    column_weights,
    stepped,
)
from extreme_entropy.drawing.effects import Effects, Straight, draw_effects, knots_of
from extreme_entropy.drawing.settings import DRAWING, TreeSettings
from extreme_entropy.drawing.table_spec import ClassRows, TableSpec, choose, heaviest
from extreme_entropy.estimators.schema import check
from extreme_entropy.features.feature_map import Tree

few_and_many = pytest.mark.parametrize("n_classes", [2, 4])
D = 4
FIRST = Choice(0, False, *DRAWING.dual.first)


def rows_of(rng, n_classes, n=60):
    """Scaled rows whose label depends on two columns, of several counts."""
    Z = rng.random((n, D))
    score = Z[:, 0] + (Z[:, 1] > 0.5) + 0.3 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    targets = (y == 1).astype(float)[:, np.newaxis] if n_classes == 2 else np.eye(n_classes)[y]
    return DualRows(Z, targets, rng.choice([1.0, 2.0, 5.0], n))


def additive_of(rows):
    effects = draw_effects(rows.Z, 30, DRAWING.effects)
    assert isinstance(effects, Effects)
    return effects


def quadratic_problem(rows, additive, choice, settings):
    """The design of (1, codes, kernel), and what each part of it costs."""
    coded = additive(rows.Z)
    coded = coded - coded.mean(axis=0)
    between = abs(rows.Z[:, np.newaxis] - rows.Z).sum(axis=2)
    if choice.radial:
        between = np.square(rows.Z[:, np.newaxis] - rows.Z).sum(axis=2)
    K = np.exp(-choice.rate * between / np.median(between[between > 0]))
    design = np.column_stack([np.ones(len(K)), coded, K])
    costs = np.zeros((design.shape[1],) * 2)
    costs[0, 0] = 1 / settings.constant_variance
    inside = 1 + coded.shape[1]
    costs[1:inside, 1:inside] = choice.additive * np.eye(coded.shape[1])
    costs[inside:, inside:] = choice.kernel * K
    return design, costs


# -------------------------------------------------------------------- leaving out


@few_and_many
@pytest.mark.parametrize("radial", [False, True], ids=["laplacian", "rbf"])
@pytest.mark.parametrize("penalties", [(3.0, 0.3), (0.5, 10.0)], ids=str)
def test_rows_left_out_are_predicted_as_by_fitting_without_them(n_classes, radial, penalties, rng):
    """The same quadratic problems solved anew in their primal form, for each fold."""
    rows, settings = rows_of(rng, n_classes), DRAWING.dual
    choice = FIRST._replace(radial=radial, additive=penalties[0], kernel=penalties[1])
    additive = additive_of(rows)
    odds = rng.normal(size=(settings.folds, *rows.targets.shape))
    judged = Dual.of(rows, additive, [np.ones(D)], settings).judged(choice, odds)
    design, costs = quadratic_problem(rows, additive, choice, settings)
    left_out = np.empty(rows.targets.shape)
    for fold, start in enumerate(odds):
        rest = np.arange(len(start)) % settings.folds != fold
        # A row that is gone is no centre of the kernel either.
        kept = np.append(np.ones(design.shape[1] - len(rest), bool), rest)
        H, cost, f = design[np.ix_(rest, kept)], costs[np.ix_(kept, kept)], start[rest]
        p = expit(f) if n_classes == 2 else softmax(f, axis=1)
        w = (p * (1 - p)).sum(axis=1)
        w = w if n_classes == 2 else np.minimum(w, p.max(axis=1))
        G = (H.T * (w * rows.counts[rest])) @ H + cost
        for _ in range(1 if n_classes == 2 else settings.short_steps):
            p = expit(f) if n_classes == 2 else softmax(f, axis=1)
            pull = w[:, np.newaxis] * f + rows.targets[rest] - p
            theta = np.linalg.solve(G, (H.T * rows.counts[rest]) @ pull)
            f = H @ theta
        np.testing.assert_allclose(judged.odds[fold, rest], f, atol=1e-6)
        left_out[~rest] = design[np.ix_(~rest, kept)] @ theta
    if n_classes == 2:
        losses = np.logaddexp(0, left_out[:, 0]) - rows.targets[:, 0] * left_out[:, 0]
    else:
        losses = logsumexp(left_out, axis=1) - (rows.targets * left_out).sum(axis=1)
    np.testing.assert_allclose(judged.losses, losses, rtol=1e-6, atol=1e-9)


@few_and_many
def test_several_steps_end_at_the_penalised_optimum(n_classes, rng):
    """Where the gradient of the penalised loss is nothing: a = counts (y − p)."""
    rows, settings = rows_of(rng, n_classes), replace(DRAWING.dual, steps=200)
    dual = Dual.of(rows, additive_of(rows), [np.ones(D)], settings)
    a = dual.coefficients(FIRST)
    odds = dual.covariance(FIRST) @ a
    p = expit(odds) if n_classes == 2 else softmax(odds, axis=1)
    expected = (rows.targets - p) * rows.counts[:, np.newaxis]
    if n_classes > 2:  # what all logits share changes no probability, and goes slowly
        a = a - a.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(a, expected, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_labels_at_random_choose_no_flexible_model(n_classes, rng):
    """However many classes there are, whose curvature is only bounded."""
    Z, y = rng.random((400, D)), rng.integers(0, n_classes, 400)
    targets = (y == 1).astype(float)[:, np.newaxis] if n_classes == 2 else np.eye(n_classes)[y]
    rows = DualRows(Z, targets, np.ones(400))
    dual = Dual.of(rows, additive_of(rows), [np.ones(D)], DRAWING.dual)
    choice = best_choice([dual], FIRST)
    assert choice.kernel >= FIRST.kernel
    assert choice.additive >= FIRST.additive
    assert abs(dual.fitted(choice).losses.mean() - np.log(n_classes)) < 0.06


def sampled(Z, labels, counts, hashes):
    return ClassRows(Z, labels, counts, hashes, np.ones(labels.max() + 1))


def test_equal_rows_are_left_out_together(rng):
    """Also those of different classes, of which the row then has shares."""
    Z = rng.random((5, D))[[0, 1, 2, 0, 3, 4]]
    labels, counts = np.array([0, 0, 0, 1, 1, 1]), np.array([3.0, 1.0, 1.0, 1.0, 2.0, 1.0])
    hashes = np.array([9, 1, 2, 9, 3, 4], dtype=np.uint64)
    rows = sampled(Z, labels, counts, hashes).dual(100)
    assert len(rows.Z) == 5
    [at] = np.flatnonzero((Z[0] == rows.Z).all(axis=1))
    assert rows.counts[at] == 4
    assert rows.targets[at, 0] == pytest.approx(0.25)
    assert rows.counts.sum() == counts.sum()


def test_repeated_rows_with_labels_at_random_tell_nothing(rng):
    """A row that predicted its own repeats would make a narrow kernel look good."""
    Z = np.repeat(rng.random((50, D)), 2, axis=0)
    labels = np.tile([0, 1], 50)
    order = np.argsort(labels, kind="stable")
    hashes = np.repeat(np.arange(50), 2).astype(np.uint64)
    rows = sampled(Z[order], labels[order], np.ones(100), hashes[order]).dual(1000)
    assert len(rows.Z) == 50
    judged = Dual.of(rows, additive_of(rows), [np.ones(D)], DRAWING.dual).fitted(FIRST)
    np.testing.assert_allclose(judged.losses, np.log(2), atol=1e-9)


@few_and_many
def test_the_best_choice_is_as_good_as_any_next_to_it(n_classes, rng):
    """But for gains too small to be taken."""
    rows, settings = rows_of(rng, n_classes, 200), replace(DRAWING.dual, rounds=20)
    weightings = [np.ones(D), np.array([1.4, 1.4, 0.1, 0.1])]
    dual = Dual.of(rows, additive_of(rows), weightings, settings)
    first = Choice(1, False, *settings.first)
    choice, start = best_choice([dual], first), dual.fitted(first)
    judged = dual.judged(choice, start.odds)
    assert choice != first
    assert np.average(start.losses - judged.losses, weights=rows.counts) > 0
    for step in range(settings.n_steps + len(weightings)):
        other = dual.judged(stepped(choice, step, settings), start.odds)
        gains = judged.losses - other.losses
        gain = np.average(gains, weights=rows.counts)
        error = np.sqrt(rows.counts @ (gains - gain) ** 2) / rows.counts.sum()
        share = gain / np.average(judged.losses, weights=rows.counts)
        assert gain <= error or share <= settings.least_radial_gain + 1e-12


def test_a_choice_for_several_leaves_is_that_of_all_their_rows(rng):
    """Of a leaf and one that is empty of meaning, both count; of a leaf twice, it is its own."""
    rows, noise = rows_of(rng, 2, 200), rows_of(rng, 2, 200)
    noise = replace(noise, targets=rng.permutation(noise.targets))
    settings, first = DRAWING.dual, Choice(0, False, *DRAWING.dual.first)
    one, other = (
        Dual.of(part, additive_of(part), [np.ones(D)], settings) for part in (rows, noise)
    )
    alone = best_choice([one], first)
    assert best_choice([one, one], first) == alone
    both = best_choice([one, other], first)
    assert both != alone
    gains = [
        (dual.fitted(first).losses - dual.judged(both, dual.fitted(first).odds).losses)
        for dual in (one, other)
    ]
    assert np.concatenate(gains).mean() > 0


def test_columns_that_tell_classes_apart_count_more(rng):
    """Two of twelve, which tell them apart only together."""
    Z = rng.random((400, 12))
    y = (Z[:, 3] > 0.5) ^ (Z[:, 7] > 0.5)
    rows = DualRows(Z, y[:, np.newaxis].astype(float), np.ones(400))
    weights = column_weights(rows, additive_of(rows), DRAWING.dual)
    assert set(np.argsort(weights)[-2:]) == {3, 7}
    assert np.square(weights).mean() == pytest.approx(1)


def test_the_first_rows_of_each_class_are_taken_alike():
    """What a rare class lacks goes to the others."""
    labels = np.repeat([0, 1, 2], [500, 30, 400])
    rows = sampled(np.zeros((930, 1)), labels, np.ones(930), np.arange(930).astype(np.uint64))
    taken = rows.spread(300)
    assert np.bincount(taken.labels).tolist() == [135, 30, 135]
    assert taken.hashes[:135].tolist() == list(range(135))


def test_landmarks_are_distinct_rows_of_all_classes():
    """Of two equal rows in two classes one is taken; a rare class has as many as another."""
    labels = np.repeat([0, 1], [500, 40])
    hashes = np.arange(540).astype(np.uint64)
    hashes[500:520] = hashes[:20]
    Z = hashes[:, np.newaxis].astype(float)
    landmarks = sampled(Z, labels, np.ones(540), hashes).landmarks(80)[:, 0]
    assert sorted(landmarks) == [*range(40), *range(520, 540)]


def test_a_user_may_ask_for_more_landmarks_than_rows_of_a_class_are_sampled():
    spec = TableSpec(9000, 1)
    assert spec.sample_sizes(1e6, 2, 5).of_class == 9000  # one class may be rare
    assert spec.sample_sizes(1e6, 4, 5).of_class == 3000
    assert TableSpec("auto", 1).sample_sizes(1e6, 2, 5).of_class == DRAWING.pilots.class_rows


def test_small_penalties_of_the_kernel_are_for_tables_that_fill_the_sample(rng):
    """Of a few rows that a kernel predicts without error, too."""
    Z = rng.random((300, D))
    y = (np.sin(9 * Z[:, 0]) > 0).astype(float)[:, np.newaxis]
    settings, chosen = replace(DRAWING.dual, rounds=9), []
    for count in (1.0, 2.0):
        rows = DualRows(Z, y, np.full(300, count))
        dual = Dual.of(rows, additive_of(rows), [np.array([2.0, 0, 0, 0])], settings)
        chosen.append(best_choice([dual], FIRST).kernel)
    assert chosen[0] == settings.least_kernel_of_few
    assert settings.least_kernel <= chosen[1] < settings.least_kernel_of_few


def test_large_tables_choose_on_more_rows(rng, monkeypatch):
    """Of a table of 30 000 rows, of which these were sampled, and of one of half as many."""
    Z, labels, seen = rng.random((3000, D)), rng.integers(0, 2, 3000), []

    def best(duals, first):
        seen.append(len(duals[0].rows.Z))
        return first

    monkeypatch.setattr(table_spec, "best_choice", best)
    for share in (0.1, 0.2):
        rows = ClassRows(
            Z, labels, np.ones(3000), np.arange(3000).astype(np.uint64), np.full(2, share)
        )
        choose(Z, rows, TableSpec("auto", 1).size(3000 / share, 2), DRAWING)
    assert seen == [DRAWING.dual.rows_of_many, DRAWING.dual.rows]


def test_the_heaviest_columns_keep_their_proportions(rng):
    weights = np.sqrt(rng.random(50))
    kept = heaviest(weights, 10)
    assert set(np.flatnonzero(kept)) == set(np.argsort(weights)[-10:])
    ratio = kept[kept > 0] / weights[kept > 0]
    np.testing.assert_allclose(ratio, ratio[0])
    assert np.square(kept).mean() == pytest.approx(1)
    assert (np.flatnonzero(heaviest(np.ones(9), 4))).tolist() == [0, 1, 2, 3]  # ties: the first
    assert heaviest(weights, 50) is weights


# -------------------------------------------------------------------- effects of single columns


def test_effects_have_a_variance_of_one(rng):
    """Each column that varies has the same share of it; where columns are too many, in all."""
    Z = np.column_stack([rng.random((800, 3)), np.zeros(800), rng.random(800) < 0.1])
    effects = draw_effects(Z, 100, DRAWING.effects)
    column = effects.codes.column  # upper roots keep the columns apart
    variances = np.bincount(column, effects(Z).var(axis=0), 5)
    np.testing.assert_allclose(variances, [0.25, 0.25, 0.25, 0, 0.25], rtol=1e-9)
    wide = rng.random((100, 300))
    straight = draw_effects(wide, 100, DRAWING.effects)
    assert isinstance(straight, Straight)
    assert straight(wide).var(axis=0).sum() == pytest.approx(1)


def test_effects_vary_as_a_line_in_normal_scores_and_a_random_walk(rng):
    """Drawn at random: four fifths of the variance of each lie along the line, by regression."""
    z = rng.permutation(np.arange(1, 1001) / 1000)[:, np.newaxis]
    effects = draw_effects(z, 100, DRAWING.effects)
    drawn = effects(z) @ rng.standard_normal((effects.root.shape[1], 4000))
    assert drawn.var(axis=0).mean() == pytest.approx(1, abs=0.1)
    knots = np.append(effects.codes.low, 1)
    line = np.interp(z[:, 0], knots, norm.ppf(np.clip(knots - 0.0005, 0.0005, 0.9995)))
    line = (line - line.mean()) / line.std()
    along = np.mean((line @ drawn / len(line)) ** 2)
    # What a walk has along the line comes on top of the line's own share.
    walks = draw_effects(z, 100, replace(DRAWING.effects, straight=0.0))
    walk = walks(z) @ rng.standard_normal((walks.root.shape[1], 4000))
    of_walk = np.mean((line @ walk / len(line)) ** 2)
    share = DRAWING.effects.straight
    assert along == pytest.approx(share + (1 - share) * of_walk, abs=0.06)
    order = np.argsort(z[:, 0])
    at_knots = order[np.searchsorted(z[order, 0], knots[1:-1])]
    steps = np.diff(walk[at_knots], axis=0)
    correlations = np.corrcoef(steps)[np.triu_indices(len(steps), 1)]
    assert abs(correlations).max() < 0.1


def test_few_values_are_all_knots_and_many_are_met_from_end_to_end(rng):
    few = rng.choice([0.0, 0.2, 0.9], 300)
    knots, steps = knots_of(few, 2, 3)
    assert knots.tolist() == [0.0, 0.2, 0.9]
    assert (steps > 0).all()
    knots, steps = knots_of(rng.permutation(1000) / 1000, 11, 20)
    assert len(knots) == 11
    assert (knots[0], knots[-1]) == (0.0, 0.999)
    np.testing.assert_allclose(knots + knots[::-1], 0.999, atol=2e-3)  # both tails alike
    assert np.diff(knots)[0] < np.diff(knots)[5] < 0.16  # and denser there


def test_a_heap_of_one_value_leaves_knots_to_the_others(rng):
    """Nine in ten are 0: without a cut all knots but a few would be there."""
    values = np.where(np.arange(1000) < 900, 0.0, 1 + rng.random(1000))
    knots, _ = knots_of(values, 10, 20)
    assert (knots >= 1).sum() >= 6


def test_columns_that_vary_have_two_knots_at_least():
    assert knots_of(np.array([0.0] * 998 + [1.0, 2.0]), 2, 2)[0].tolist() == [0.0, 2.0]


@pytest.mark.parametrize("most", [4, 10, 100])
def test_codes_are_no_more_than_asked_for(most, rng):
    Z = np.column_stack([rng.random((500, 3)), rng.integers(0, 3, 500)])
    assert draw_effects(Z, most, DRAWING.effects).codes.size <= max(most, 4)


# -------------------------------------------------------------------- cuts


CUTS = TreeSettings(fewest_class_rows=10, fewest_sampled=20)


def node(rng, n=4000, n_classes=3):
    Z = rng.random((n, D))
    labels = np.searchsorted([0.5, 1.4][: n_classes - 1], Z[:, 0] + Z[:, 1])
    return NodeRows(Z[::2], Z[1::2], labels[1::2], np.full(n_classes, 2.0))


@pytest.mark.parametrize("leaves", [1, 2, 3, 7, 8, 31])
@few_and_many
def test_a_tree_has_the_leaves_asked_for_and_each_has_two_classes(leaves, n_classes, rng):
    rows = node(rng, n_classes=n_classes)
    tree = cut_rows(rows, np.ones(D), leaves, CUTS)
    check(Tree, tree, {"encoded": [D]}, "tree")
    assert tree.n_leaves == leaves
    at = tree(rows.of_classes)
    for leaf in range(leaves):
        counts = np.bincount(rows.labels[at == leaf], minlength=n_classes) * 2
        assert np.sort(counts)[-2] >= CUTS.fewest_class_rows
    if leaves <= 8:  # all can be cut; the largest is always cut next, in the middle
        sizes = np.bincount(tree(rows.Z), minlength=leaves)
        assert sizes.max() <= 2.5 * sizes.min()


def test_cuts_are_at_medians_of_the_widest_column(rng):
    """Widest by its weight; a column without weight is never cut."""
    rows, weights = node(rng), np.array([1.0, 0.9, 0.0, 0.5])
    rows = replace(rows, labels=rng.integers(0, 3, len(rows.labels)))  # all classes everywhere
    tree = cut_rows(rows, weights, 8, CUTS)
    parts = {0: rows.Z}
    for i in range(len(tree.columns)):
        Z = parts[i]
        column, threshold = tree.columns[i], tree.thresholds[i]
        assert column == np.argmax(Z.std(axis=0) * weights)
        assert abs((Z[:, column] > threshold).mean() - 0.5) <= 1 / len(Z)
        for side, child in enumerate(tree.children[i]):
            parts[int(child)] = Z[(Z[:, column] > threshold) == side]


def test_no_cut_leaves_a_side_with_one_class(rng):
    """The widest column, which tells classes apart, gives way to the next."""
    Z = rng.random((1000, 2)) * [3.0, 1.0]
    labels = (Z[:, 0] > 1.5).astype(int)
    rows = NodeRows(Z, Z, labels, np.ones(2))
    assert cut_rows(rows, np.ones(2), 2, CUTS).columns.tolist() == [1]
    assert cut_rows(rows, np.ones(2), 2, replace(CUTS, fewest_class_rows=600)).n_leaves == 1


def test_heaps_are_not_cut_in_two(rng):
    """A threshold lies between values, near the middle, or there is none."""
    assert middle_of(np.zeros(10), 0.2) is None
    assert middle_of(np.r_[np.zeros(90), 1:11], 0.2) is None
    assert middle_of(np.r_[np.zeros(60), np.ones(40)], 0.2) == 0.5
    values = rng.normal(size=1000)
    assert (values > middle_of(values, 0.2)).sum() == 500


# -------------------------------------------------------------------- sizes


def test_the_number_of_leaves_follows_from_rows_and_memory():
    """One for each so many rows, but never more than their sums have room for."""
    spec = TableSpec("auto", "auto")
    leaves = [spec.size(10.0**k, 2).leaves for k in range(2, 10)]
    settings = DRAWING.trees
    assert leaves[:3] == [1, 1, 1]
    assert leaves == sorted(leaves)
    assert leaves[3] * settings.leaf_rows <= 100_000
    assert leaves[-1] == leaves[-2] > 20
    size = settings.leaf_landmarks + settings.leaf_codes
    assert leaves[-1] * 5 * size**2 * 8 <= 2**29
    assert TableSpec("auto", 7).size(100, 2).leaves == 7
    assert TableSpec(20, 1).size(1e6, 2).landmarks == 20


def test_a_rare_class_is_not_cut_up():
    """Leaves are no more than it has rows for."""
    spec = TableSpec("auto", "auto")
    assert spec.size(1e6, 2, rarest=100).leaves == 1
    assert spec.size(1e6, 2, rarest=1e5).leaves == spec.size(1e6, 2).leaves
