import sys

from cfgen.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
