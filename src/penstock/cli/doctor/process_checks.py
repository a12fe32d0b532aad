"""Checks processes: recent failures, and processes that no supervisor continues."""

from __future__ import annotations

from penstock.cli.doctor.checks import Check
from penstock.processes.operation_rows import UnhealthyProcess
from penstock.processes.operations import ProcessOperations


async def check_processes(calls: ProcessOperations) -> list[Check]:
    """All checks of processes, on a migrated database."""
    found = await calls.unhealthy()
    checks = [check for each in found if (check := _check(each)) is not None]
    total = sum(each.roots for each in found if each.finding == "open")
    return checks or [Check("processes", "ok", f"{total} open")]


def _check(each: UnhealthyProcess) -> Check | None:
    match each.finding:
        case "open":
            return None
        case "failed":
            return Check(
                "processes",
                "warn",
                f"{each.roots} of {each.process} failed in the last day, most recently {each.example}",
                f"To see why: penstock process show {each.example}; then: penstock process retry ID",
            )
        case "swept":
            return Check(
                "processes",
                "warn",
                f"{each.roots} of {each.process} had to be woken more than three times, such as "
                f"{each.example}: its supervisor does not finish",
                "To see its errors: penstock dead list --type db_function",
            )
        case "unattended":
            return Check(
                "processes",
                "warn",
                f"{each.roots} of {each.process} {('is' if each.roots == 1 else 'are')} overdue "
                f"with no check scheduled, such as {each.example}",
                "A worker wakes them within minutes: start one, or look for failing duties in its log",
            )
