"""The names of the queues that documents and processes use."""

INGEST = "ingest-document"
REINDEX = "reindex-project"
DELIVER = "deliver-webhook"
MAINTAIN = "maintain-documents"
SYNC = "sync-source"
SUBSCRIBE = "subscribe-source"

SUPERVISE = "processes"
EMAIL = "email"
SMS = "sms"
DELETE = "delete-document"
DELETE_ACCOUNT = "account-deletion"
