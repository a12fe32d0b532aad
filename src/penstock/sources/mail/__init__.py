"""Mailboxes: what Outlook, Gmail and IMAP have in common."""
