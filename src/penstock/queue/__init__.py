"""The Python API of the queue: task types, enqueueing, and the calls workers and operators make."""
