-- Operators' pages that show the audit are told when a request starts and when its outcome is known.
create or replace trigger operator_audit_is_announced
after insert or update of status on internal.operator_audit
for each statement execute function internal.announce_statement('audit', 'operators');
