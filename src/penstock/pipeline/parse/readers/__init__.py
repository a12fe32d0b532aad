"""One reader per family of file types; they run in the sandbox."""
