"""Questions Penstock's own documentation answers, and questions that nothing in the corpus answers."""

from __future__ import annotations

from pathlib import Path

ANSWERED = {
    "how do I run a task again that ran out of attempts": "dead-letters.md",
    "where do failed tasks go": "dead-letters.md",
    "replay dead letters by their error": "dead-letters.md",
    "stop a running task": "cancel-and-snooze.md",
    "make a task wait and run later without using an attempt": "cancel-and-snooze.md",
    "delete everything of a customer": "deletion.md",
    "proof that an account was erased": "deletion.md",
    "what happens when the same file is uploaded twice": "documents.md",
    "which file types can be read": "documents.md",
    "which embedding model should I use": "embedders.md",
    "switch a project to another model without downtime": "embedders.md",
    "install the MiniLM model": "embedders.md",
    "one tenant must not starve the others": "fairness-and-priorities.md",
    "give urgent work precedence": "fairness-and-priorities.md",
    "allow only one task per customer at a time": "keys-and-limits.md",
    "limit how many tasks start per second": "keys-and-limits.md",
    "deduplicate tasks with a unique key": "keys-and-limits.md",
    "send an email through my mail server": "messages.md",
    "text messages over Twilio": "messages.md",
    "enqueue a task from SQL or another language": "other-languages.md",
    "write a supervisor in SQL": "processes.md",
    "scaffold a new process": "processes.md",
    "exponential backoff between attempts": "retries.md",
    "which errors should not be retried": "retries.md",
    "run something every night at three": "schedules.md",
    "cron expression for a recurring task": "schedules.md",
    "combine keyword and vector search": "search.md",
    "filter search results by date or metadata": "search.md",
    "declare a task with a pydantic payload": "tasks.md",
    "commit my own writes together with the task": "transactions.md",
    "exactly once effects with a fencing token": "transactions.md",
    "verify the signature of a webhook": "webhooks.md",
    "be told when a document is finished": "webhooks.md",
    "back up the database": "backup.md",
    "restore after losing a machine": "backup.md",
    "run behind PgBouncer in transaction mode": "behind-a-pooler.md",
    "upgrade to a new release": "install-and-upgrade.md",
    "Prometheus metrics of the worker": "monitoring.md",
    "which log events should I alert on": "monitoring.md",
    "database roles and grants that are needed": "roles-and-grants.md",
    "deploy new workers without stopping the old ones": "rollout.md",
    "environment variable for the lease time": "settings.md",
    "change where uploaded files are stored": "settings.md",
    "the worker does not start any task, why": "troubleshooting.md",
    "what does SQLSTATE PS006 mean": "errors.md",
    "upload a file with curl": "http.md",
    "rate limit headers of the API": "http.md",
    "exit codes of the command line": "cli.md",
    "why are claims not synced to disk": "0012-claims-do-not-wait-for-the-disk.md",
    "why does the queue delete rows instead of updating them": "0001-the-shape-of-the-queue.md",
}
"""A question and the page that answers it."""

UNANSWERED = (Path(__file__).parent / "unanswered.txt").read_text().splitlines()
"""Nothing in the corpus is about these."""
