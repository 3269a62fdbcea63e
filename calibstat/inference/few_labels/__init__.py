"""Few labelled rows, and many whose outcomes a judge guessed: tests and intervals for the outcomes, not the guesses."""
