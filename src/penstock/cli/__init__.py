"""The command line: `penstock`."""


def main() -> int:
    """Run the command that the arguments name and return its exit code."""
    from penstock.cli.program import run_program

    return run_program()
