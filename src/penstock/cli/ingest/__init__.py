"""`penstock ingest`: files and folders become searchable documents."""
