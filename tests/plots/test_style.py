"""Colours by role."""


def test_roles_have_colours_that_stay_apart():
    """Blue against red and green against red differ in lightness or blue, which colour-blind readers keep."""
    from calibstat.plots.style import colors

    colors = colors()
    for one, other in (("blue", "red"), ("green", "red"), ("blue", "orange")):
        (r1, g1, b1), (r2, g2, b2) = colors[one], colors[other]
        assert abs((r1 + g1) - (r2 + g2)) / 2 + abs(b1 - b2) > 0.3
