"""The benchmark of search: one tenant with many chunks, times, recall and ranking."""
