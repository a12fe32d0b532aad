"""Writes the files of a new supervised process into a checkout of Penstock."""

from penstock.scaffold.checkout import Checkout
from penstock.scaffold.files import NewFile, process_files
from penstock.scaffold.process import Channel, Process
from penstock.scaffold.things import Thing
from penstock.scaffold.writing import check_absent, write

__all__ = ["Channel", "Checkout", "NewFile", "Process", "Thing", "check_absent", "process_files", "write"]
