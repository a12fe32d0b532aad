"""Re-indexes a project in shards that any engine may run, also twice: the index gets each once."""
