"""A folder as a source: the smallest provider, and the example of the guide on writing one."""
