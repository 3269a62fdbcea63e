"""The small network of the study of training: derivatives, first steps, augmentations, each by hand."""

import numpy as np
import pytest
from simulation_files import study_part

network = study_part("small_network")
Recipe, Network = network.Recipe, network.Network
RANDOM = np.random.default_rng(1)
ROWS, LABELS = RANDOM.random((5, 6)), RANDOM.dirichlet(np.ones(3), size=5)


def loss(net, recipe):
    p = net.predict(ROWS)
    each = -LABELS * np.log(p) if recipe.loss == "log_loss" else (LABELS - p) ** 2
    return each.sum(axis=1).mean() + recipe.decay / 2 * sum((w**2).sum() for w in net.weights[::2])


@pytest.mark.parametrize("loss_name", network.LOSSES)
@pytest.mark.parametrize(("hidden", "decay"), [((), 0.0), ((4,), 0.1), ((4, 7), 0.0)])
def test_derivatives_are_those_by_differences(loss_name, hidden, decay):
    recipe = Recipe(hidden=hidden, loss=loss_name, decay=decay)
    net = Network.drawn((6, *hidden, 3), np.random.default_rng(2))
    for w in net.weights[1::2]:
        w += 0.1  # so that no neuron is at its corner
    for w, slope in zip(net.weights, net.gradients(ROWS, LABELS, recipe), strict=True):
        for place in np.ndindex(w.shape):
            ends = []
            for step in (1e-6, -2e-6):
                w[place] += step
                ends.append(loss(net, recipe))
            w[place] += 1e-6
            assert slope[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_the_first_steps_by_hand():
    # Adam: both means, freed of their bias, are g and g², so the step is the rate times the sign; SGD: rate times g,
    # then rate times (.9 g + g)
    g = [np.array([[0.5, -2.0]]), np.array([0.1, 0.0])]

    def at_zero():
        return Network([np.zeros((1, 2)), np.zeros(2)], memory=[(np.zeros(s), np.zeros(s)) for s in ((1, 2), (2,))])

    net = at_zero()
    net.step(g, Recipe(rate=0.01))
    assert net.weights[0] == pytest.approx(np.array([[-0.01, 0.01]]), rel=1e-6)
    assert net.weights[1][1] == 0
    net = at_zero()
    for expected in (-0.01 * g[0], -0.01 * 2.9 * g[0]):
        net.step(g, Recipe(rate=0.01, optimiser="sgd"))
        assert net.weights[0] == pytest.approx(expected)


def test_shifts_by_hand():
    image = np.zeros((1, 8, 8))
    image[0, 3, 4] = 1
    found = network.shifted(image.reshape(1, 64), np.array([[0.5], [-0.25]])).reshape(8, 8)
    expected = np.zeros((8, 8))
    expected[3:5, 3:5] = [[0.5 * 0.25, 0.5 * 0.75], [0.5 * 0.25, 0.5 * 0.75]]
    assert found == pytest.approx(expected)
    rows = np.random.default_rng(3).random((3, 64))
    assert np.array_equal(network.shifted(rows, np.zeros((2, 3))), rows)


def test_labels_and_mixtures_by_hand():
    labels = np.eye(3)
    rows, smooth = network.augmented(ROWS[:3], labels, Recipe(augmentation="smoothing"), None)
    assert np.array_equal(rows, ROWS[:3])
    assert smooth == pytest.approx(0.9 * labels + 0.1 / 3)
    random = np.random.default_rng(4)
    share, other = (lambda r: (r.random(), r.permutation(3)))(np.random.default_rng(4))
    rows, mixed = network.augmented(ROWS[:3], labels, Recipe(augmentation="mixup"), random)
    assert rows == pytest.approx(share * ROWS[:3] + (1 - share) * ROWS[other])
    assert mixed == pytest.approx(share * labels + (1 - share) * labels[other])
    assert mixed.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("optimiser", network.OPTIMISERS)
@pytest.mark.parametrize("loss_name", network.LOSSES)
def test_networks_learn(optimiser, loss_name):
    random = np.random.default_rng(5)
    rows = random.random((200, 64))
    y = (rows[:, 0] > 0.5).astype(int)
    rate = {"adam": 0.003, "sgd": 0.1}[optimiser]
    training = network.passes(rows, y, 2, Recipe(loss=loss_name, optimiser=optimiser, rate=rate, hidden=(20,)), random)
    nets = [next(training) for _ in range(40)]
    p = nets[-1].predict(rows)
    assert np.mean(p.argmax(axis=1) == y) > 0.95
    assert p.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(("name", "value"), [("loss", "hinge"), ("optimiser", "sgdm"), ("augmentation", "cutout")])
def test_unknown_recipes_are_refused(name, value):
    with pytest.raises(ValueError, match=f"expected {name} .* or .*, found '{value}'"):
        Recipe(**{name: value})
