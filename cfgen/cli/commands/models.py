"""``cfgen models``: what can be asked."""

import argparse


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("models", help="list model providers: each can judge, plan and verify")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    commands.add_parser("list", help="their names and options").set_defaults(func=_list)


def _list(_: argparse.Namespace) -> int:
    import inspect

    from cfgen.core.errors import CfgenError
    from cfgen.models.registry import MODELS

    for name in MODELS.names():
        try:
            words = (inspect.getdoc(MODELS.get(name)) or "").splitlines()
        except CfgenError as error:
            words = [str(error)]
        print(f"{name:<10} {words[0] if words else ''}".rstrip())
    return 0
