"""Other people's queues into ours, exactly once: receive, one transaction, acknowledge."""
