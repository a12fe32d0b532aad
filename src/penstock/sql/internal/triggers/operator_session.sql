-- Operators' pages are told when somebody signs in to the installation or a session is ended; not when one is used.
create or replace trigger operator_session_is_announced
after insert or update of revoked_at or delete on internal.operator_session
for each statement execute function internal.announce_statement('sessions', 'operators');
