"""Commands for operators: queues, tasks, dead letters, schedules, processes, messages."""
