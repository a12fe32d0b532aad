"""The command line: `penstock`."""

import gc


def main() -> int:
    """Run the command that the arguments name and return its exit code."""
    gc.set_threshold(10_000)  # imports make many objects that stay: looking for garbage among them is waste

    from penstock.cli.program import run_program

    return run_program()
