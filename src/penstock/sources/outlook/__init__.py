"""Outlook: mailboxes of Microsoft 365 and outlook.com, by Microsoft Graph."""
