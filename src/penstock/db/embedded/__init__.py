"""The Postgres server that Penstock starts and stops itself."""
