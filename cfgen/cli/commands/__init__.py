"""One file per group of commands: parse, call, print. Everything heavy is imported when a command runs."""
