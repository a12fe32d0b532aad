-- Pages that show sessions are told when somebody signs in or a session is ended; not when one is used.
create or replace trigger session_is_announced
after insert or update of revoked_at or delete on accounts.session
for each row execute function internal.announce_row('sessions');
