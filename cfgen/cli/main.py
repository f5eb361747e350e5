"""The command line.

Exit codes: 0 done, 1 the job ran but fell short, 2 bad usage or input, 130 interrupted, 143 told to end (SIGTERM).
"""

import argparse
import contextlib
import importlib
import io
import pkgutil
import sys
import warnings
from collections.abc import Sequence

import cfgen.cli.commands
from cfgen.cli.options import Command, Readdressed, localize
from cfgen.core.errors import CfgenError, Shortfall, ShortfallWarning
from cfgen.core.interrupts import Interrupted, heard
from cfgen.version import __version__


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cfgen", description="Counterfactual hazards for driving planners that explain themselves."
    )
    parser.add_argument("--version", action="version", version=f"cfgen {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Command)
    for name in sorted(m.name for m in pkgutil.iter_modules(cfgen.cli.commands.__path__)):
        module = importlib.import_module(f"cfgen.cli.commands.{name}")
        if hasattr(module, "register"):
            module.register(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. A user's mistake is one line on stderr, never a traceback."""
    warnings.showwarning = _one_line
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be UTF-8, terminals neither
    arguments = build_parser().parse_args(argv)
    with contextlib.ExitStack() as words:
        try:
            with heard():
                if told := localize(arguments):
                    words.enter_context(contextlib.redirect_stdout(Readdressed(sys.stdout, told)))
                    words.enter_context(contextlib.redirect_stderr(Readdressed(sys.stderr, told)))
                return arguments.func(arguments) or 0
        except Shortfall as shortfall:
            print(f"cfgen: fell short: {shortfall}", file=sys.stderr)
            return 1
        except CfgenError as error:
            print(f"cfgen: error: {error}", file=sys.stderr)
            return 2
        except Interrupted as interrupt:
            print(
                "\ncfgen: interrupted; what is done is kept, run the same command to go on", file=sys.stderr
            )
            return 128 + interrupt.number
        except (SystemExit, KeyboardInterrupt) as error:  # nobody's wish: an exit code of 0 would hide it
            raise RuntimeError(f"something that cfgen called raised {error!r}") from error
        except BrokenPipeError:
            sys.stderr.close()
            return 0
        except OSError as error:
            from cfgen.core.faults import ends_the_run  # not for --help: it knows every record

            if not ends_the_run(error):
                raise
            print(
                f"cfgen: error: {error}; what is done is kept: mend it and run the same command",
                file=sys.stderr,
            )
            return 2


def _one_line(message: Warning | str, *_: object, **__: object) -> None:
    if not isinstance(message, ShortfallWarning):  # commands end with it
        print(f"cfgen: warning: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
