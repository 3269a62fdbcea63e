"""Colours by role."""


def test_roles_have_colours_that_stay_apart():
    """Blue against red and green against red differ in lightness or blue, which colour-blind readers keep."""
    from calibstat.plots.style import colors

    colors = colors()
    for one, other in (("blue", "red"), ("green", "red"), ("blue", "orange")):
        (r1, g1, b1), (r2, g2, b2) = colors[one], colors[other]
        assert abs((r1 + g1) - (r2 + g2)) / 2 + abs(b1 - b2) > 0.3


def test_numbers_in_order_have_colours_from_light_to_dark():
    from calibstat.plots.style import light_to_dark

    lightness = [0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in light_to_dark(6)]
    assert lightness == sorted(lightness, reverse=True)
    assert lightness[0] < 0.8  # seen on white
    assert len(light_to_dark(1)) == 1
