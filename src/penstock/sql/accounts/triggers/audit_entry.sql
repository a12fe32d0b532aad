-- Pages that show the audit are told when a request starts and when its outcome is known.
create or replace trigger audit_entry_is_announced
after insert or update of status on accounts.audit_entry
for each row execute function internal.announce_row('audit');
