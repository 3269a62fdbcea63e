"""Effects that a test could have found: alternatives, power, detectable effects."""
