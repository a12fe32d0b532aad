"""Google Drive: files."""
