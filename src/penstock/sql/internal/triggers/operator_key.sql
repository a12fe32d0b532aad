-- Operators' pages are told when a key of the installation is created or revoked; not when one is used.
create or replace trigger operator_key_is_announced
after insert or update of revoked_at or delete on internal.operator_key
for each statement execute function internal.announce_statement('keys', 'operators');
