"""The channels of processes: email, text messages, file deletion."""
