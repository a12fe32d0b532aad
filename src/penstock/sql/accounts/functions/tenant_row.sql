-- A tenant as callers see it: everything but the id of its secret.
create or replace function accounts.tenant_row(_tenant accounts.tenant)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_tenant) - 'webhook_secret_id'
    || jsonb_build_object('has_webhook', _tenant.webhook_url is not null);
$$;
