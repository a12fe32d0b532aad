"""The names of the built-in channels, which are the names of their task types too."""

from enum import StrEnum


class ChannelName(StrEnum):
    DB_FUNCTION = "db_function"
    EMAIL = "email"
    SMS = "sms"
    FILE_DELETE = "file_delete"
