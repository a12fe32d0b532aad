"""Microsoft Graph: Outlook's mail, its delta queries, and subscriptions that notify."""
