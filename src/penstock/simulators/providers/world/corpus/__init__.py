"""Mails to deliver: ordinary ones, and all that is odd about real ones."""
