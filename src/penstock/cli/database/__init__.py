"""Commands about the database: migrate, db, backup, restore."""
