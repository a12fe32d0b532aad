"""Objects of a bucket as a source: listed in full, and each looked at when something says it changed."""
