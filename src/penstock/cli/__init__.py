"""The command line: `penstock`."""

import gc
import signal


def main() -> int:
    """Run the command that the arguments name and return its exit code."""
    gc.set_threshold(10_000)
    gc.disable()  # until the command is loaded: imports create no garbage
    # Until then Ctrl-C ends us at once: there is nothing to clean up, and some modules catch a
    # KeyboardInterrupt while they are imported and go on. In the background a shell has it ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    from penstock.cli.program import run_program

    try:
        return run_program()
    finally:
        gc.freeze()  # or Python looks through every module three times before it exits
