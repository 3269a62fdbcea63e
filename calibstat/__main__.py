"""`python -m calibstat`: the command line where the command `calibstat` is not on the path."""

from calibstat.cli.app import main

if __name__ == "__main__":
    main()
