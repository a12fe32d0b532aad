"""Writes the files of a new supervised process into a checkout of Penstock."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.scaffold.checkout import Checkout
    from penstock.scaffold.files import NewFile, process_files
    from penstock.scaffold.process import Channel, Process
    from penstock.scaffold.things import Thing
    from penstock.scaffold.writing import check_absent, write

__all__ = ["Channel", "Checkout", "NewFile", "Process", "Thing", "check_absent", "process_files", "write"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "checkout": ["Checkout"],
        "files": ["NewFile", "process_files"],
        "process": ["Channel", "Process"],
        "things": ["Thing"],
        "writing": ["check_absent", "write"],
    },
)
