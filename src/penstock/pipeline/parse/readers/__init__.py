"""One reader for each family of files; they run inside the sandbox."""
