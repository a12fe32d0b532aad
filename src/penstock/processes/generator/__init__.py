"""Generates the files of a new supervised process in a user's project or a checkout of Penstock."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.processes.generator.files import NewFile, process_files
    from penstock.processes.generator.process import Process
    from penstock.processes.generator.project import channel_names
    from penstock.processes.generator.subjects import ProcessSubject
    from penstock.processes.generator.target import Target
    from penstock.processes.generator.writing import check_absent, write

__all__ = [
    "NewFile",
    "Process",
    "ProcessSubject",
    "Target",
    "channel_names",
    "check_absent",
    "process_files",
    "write",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "files": ["NewFile", "process_files"],
        "process": ["Process"],
        "project": ["channel_names"],
        "target": ["Target"],
        "subjects": ["ProcessSubject"],
        "writing": ["check_absent", "write"],
    },
)
