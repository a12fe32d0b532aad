-- Kept replies held secrets in plain text, and did not know which API key had asked. None of them can be told apart
-- now, so all go: truncate, because deleted rows would stay in the file until a vacuum. A request that is repeated
-- over this migration is done anew.
truncate accounts.kept_reply;
