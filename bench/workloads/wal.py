"""WAL written per task over enqueue and drain, and what the tables carry afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from bench.environment import Environment
from bench.job import Figures
from bench.workloads import Column, Medians, Verdict
from bench.workloads.drain import preload_and_drain

LEFT_BEHIND = """
  select coalesce(sum(n_dead_tup), 0)::float8 as dead_tuples,
         coalesce(sum(pg_total_relation_size(relid)), 0)::float8 as bytes
  from pg_stat_user_tables
"""
MOST_BYTES = 910
"""As much as before closes were hashed (890 to 904 over five rounds), and what a round may differ by."""


class Wal:
    name = "wal"
    most_rounds = 99
    title = "WAL per task over enqueue and drain, and dead tuples at the end"
    columns = (
        Column("wal_per_task", "WAL bytes/task"),
        Column("dead_per_task", "dead tuples/task", 2),
        Column("dead_tuples", "dead tuples"),
        Column("bytes_per_task", "table + index bytes/task"),
    )

    def cases(self, systems: Sequence[str]) -> list[str]:
        return list(systems)

    async def measure(self, environment: Environment, case: str) -> Figures:
        tasks = environment.plan.wal_tasks
        async with environment.database(case) as database:
            connection = database.connection
            before = await connection.fetchval("select pg_current_wal_insert_lsn()")
            await preload_and_drain(environment, case, database, tasks)
            written = await connection.fetchval("select pg_current_wal_insert_lsn() - $1::pg_lsn", before)
            ((dead, size),) = await connection.fetch(LEFT_BEHIND)
        return {
            "wal_per_task": float(written) / tasks,
            "dead_per_task": dead / tasks,
            "dead_tuples": dead,
            "bytes_per_task": size / tasks,
        }

    def judge(self, medians: Medians) -> list[Verdict]:
        if "penstock" not in medians:
            return []
        return [
            Verdict("WAL bytes per task", medians["penstock"]["wal_per_task"], MOST_BYTES, at_least=False)
        ]


WORKLOAD = Wal()
