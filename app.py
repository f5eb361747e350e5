from cfgen.cli import main

raise SystemExit(main(["app"]))
