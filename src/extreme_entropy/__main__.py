"""`python -m extreme_entropy`: the `eem` command where its script is not on the path."""

from extreme_entropy.cli import main

if __name__ == "__main__":
    main()
