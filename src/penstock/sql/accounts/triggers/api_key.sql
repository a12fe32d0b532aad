-- Pages that show keys are told when one is new, revoked or gone; not when one is used.
create or replace trigger api_key_is_announced
after insert or update of name, scopes, expires_at, revoked_at or delete on accounts.api_key
for each row execute function internal.announce_row('keys');
