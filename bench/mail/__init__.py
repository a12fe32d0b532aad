"""A labelled set of generated mails in four languages, and how well the rules for mail sort it."""
