"""`python -m fabula`: the command, where its script is not at hand."""

from fabula.cli import main

if __name__ == "__main__":
    main()
