"""`python -m extreme_entropy_paper`."""

from .cli import main

if __name__ == "__main__":
    main()
