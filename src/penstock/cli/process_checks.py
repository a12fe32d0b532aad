"""What doctor looks at in processes: those that failed of late, and those nobody leads on."""

from __future__ import annotations

from penstock.cli.checks import Check
from penstock.queue.process_operations import ProcessOperations
from penstock.queue.process_rows import AilingProcess


async def check_processes(calls: ProcessOperations) -> list[Check]:
    """All of them, on a migrated database."""
    found = await calls.ailing()
    checks = [check for each in found if (check := _check(each)) is not None]
    total = sum(each.roots for each in found if each.finding == "open")
    return checks or [Check("processes", "ok", f"{total} open")]


def _check(ailing: AilingProcess) -> Check | None:
    match ailing.finding:
        case "open":
            return None
        case "failed":
            return Check(
                "processes",
                "warn",
                f"{ailing.roots} of {ailing.process} failed within a day, the last is {ailing.example}",
                f"penstock process show {ailing.example} says why; then penstock process retry ID",
            )
        case "swept":
            return Check(
                "processes",
                "warn",
                f"{ailing.roots} of {ailing.process} had to be woken more than three times, such as"
                f" {ailing.example}: its supervisor does not come to an end",
                "See its errors: penstock dead list --type db_function",
            )
        case "unattended":
            return Check(
                "processes",
                "warn",
                f"{ailing.roots} of {ailing.process} {'is' if ailing.roots == 1 else 'are'} open and overdue"
                f" with no supervisor to come, such as {ailing.example}",
                "A worker wakes them within minutes: start one, or see its log for duties that fail",
            )
