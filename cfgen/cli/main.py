"""The command line.

Exit codes: 0 done, 1 the job ran but fell short, 2 bad usage or input, 130 interrupted, 143 told to end (SIGTERM).
"""

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TextIO

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from cfgen.cli import analyze, browser, judging, lists, scenes, share, stories
from cfgen.cli.parsing import TwoColumns
from cfgen.core.errors import CfgenError, Shortfall, ShortfallWarning, did_you_mean
from cfgen.core.interrupts import Interrupted, interruptible
from cfgen.version import __version__


def build_app() -> App:
    app = App(
        name="cfgen",
        help="Counterfactual hazards for driving planners that explain themselves.",
        version=f"cfgen {__version__}",
        version_flags=["--version"],
        help_flags=["--help", "-h"],
        help_formatter=TwoColumns(),
        help_format="plaintext",
    )
    for room in (stories, browser, scenes, judging, analyze, share, lists):
        room.register(app)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. A user's mistake is one line on stderr, never a traceback."""
    warnings.showwarning = _one_line
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be UTF-8, terminals neither
    with _in_addresses():
        return _run(list(sys.argv[1:] if argv is None else map(str, argv)))


def _run(tokens: list[str]) -> int:
    try:
        with interruptible():
            command, bound, _ = build_app().parse_args(tokens, exit_on_error=False, print_error=False)
            return command(*bound.args, **bound.kwargs) or 0
    except CycloptsError as error:
        command_words = " ".join(["cfgen", *(error.command_chain or ())])
        print(f"cfgen: error: {_mistake(error)}; see: {command_words} --help", file=sys.stderr)
        return 2
    except Shortfall as shortfall:
        print(f"cfgen: fell short: {shortfall}", file=sys.stderr)
        return 1
    except CfgenError as error:
        print(f"cfgen: error: {error}", file=sys.stderr)
        return 2
    except Interrupted as interrupt:
        print("\ncfgen: interrupted; what is done is kept, run the same command to go on", file=sys.stderr)
        return 128 + interrupt.number
    except (SystemExit, KeyboardInterrupt) as error:  # nobody's wish: an exit code of 0 would hide it
        if isinstance(error.__context__, BrokenPipeError):  # rich's word for it
            return 0
        raise RuntimeError(f"something that cfgen called raised {error!r}") from error
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        from cfgen.core.faults import ends_the_run  # not for --help: it knows every record

        if not ends_the_run(error):
            raise
        print(
            f"cfgen: error: {error}; what is done is kept: mend it and run the same command", file=sys.stderr
        )
        return 2


def _mistake(error: CycloptsError) -> str:
    """What was typed wrong, as the beginning of a sentence."""
    match error:
        case UnknownOptionError(token=token, argument_collection=arguments):
            name = token.keyword or token.value
            return f"unknown option {name}{did_you_mean(name, [n for a in arguments for n in a.names])}"
        case UnknownCommandError(unused_tokens=[name, *_], app=app):
            return f"unknown command '{name}'{did_you_mean(name, app or ())}"
        case MissingArgumentError(argument=argument) if argument is not None:
            typed = error.keyword or next((token.keyword for token in argument.tokens if token.keyword), None)
            if typed:
                return f"{typed}: expected a value, found none"
            positional = argument.field_info.is_positional
            name = argument.name.lstrip("-").upper() if positional else argument.name
            return f"expected {name}, found none"
        case UnusedCliTokensError(unused_tokens=[*tokens]):
            return f"no argument is left for {' '.join(map(repr, tokens))}"
    return " ".join(str(error).split()).rstrip(".")


@contextlib.contextmanager
def _in_addresses() -> Iterator[None]:
    """What is printed names the addresses of object stores that were given, not their working copies here."""
    with (
        contextlib.redirect_stdout(_Readdressed(sys.stdout)),
        contextlib.redirect_stderr(_Readdressed(sys.stderr)),
    ):
        yield


class _Readdressed(io.TextIOBase):
    """Lines on their way to ``stream``, with addresses in place of working copies."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        from cfgen.core.object_store import COPIES

        for copy, url in COPIES.items():
            text = text.replace(copy, url)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


def _one_line(message: Warning | str, *_: object, **__: object) -> None:
    if not isinstance(message, ShortfallWarning):  # commands end with it
        print(f"cfgen: warning: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
