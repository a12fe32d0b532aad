"""The typed face of the queue: task types, enqueue, and the calls workers and operators make."""
