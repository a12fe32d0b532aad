"""IMAP: mailboxes of any mail server, by a user name and a password."""
