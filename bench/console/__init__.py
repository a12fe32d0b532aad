"""The console's calls on a database with a million tasks and a hundred thousand documents."""
