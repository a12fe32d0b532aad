-- Operators' pages are told when a tenant is new, changed or gone.
create or replace trigger tenant_is_announced
after insert or update or delete on accounts.tenant
for each statement execute function internal.announce_statement('tenants', 'operators');
