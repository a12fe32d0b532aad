"""The command line: `penstock`."""

import gc


def main() -> int:
    """Run the command that the arguments name and return its exit code."""
    gc.set_threshold(10_000)
    gc.disable()  # until the command is loaded: imports create no garbage

    from penstock.cli.program import run_program

    try:
        return run_program()
    finally:
        gc.freeze()  # or Python looks through every module three times before it exits
