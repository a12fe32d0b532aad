-- Who may call the internal functions. The owners' functions use them; logins may call those that run business functions,
-- and read the versions, which every process compares with its own when it starts.
grant usage on schema internal to penstock_api, worker_service_user, service_role, penstock_reader, penstock_queue, penstock_all_tenants;
grant execute on all functions in schema internal to penstock_queue, penstock_all_tenants;

-- Nobody else may call these, not even the other owners.
revoke all on function
  internal.run_function,
  internal.run_for_tenant,
  internal.run_and_complete,
  internal.business_call,
  internal.erase_tenant,
  internal.register_process,
  internal.register_channel,
  internal.forget_processes,
  internal.take_back_grants
from penstock_queue, penstock_all_tenants;

grant select on internal.process, internal.business_function, internal.source_kind to penstock_all_tenants;
grant insert, update on internal.source_kind to penstock_all_tenants;

grant execute on function
  internal.own_versions,
  internal.schema_version
to penstock_api, worker_service_user, service_role, penstock_reader;

-- Workers plan schedules by the time that SQL decides by, and operators choose dead letters by it.
grant execute on function
  internal.clock
to worker_service_user, service_role;

-- Operators read the views of facts, and the policies behind them ask whose transaction it is.
grant execute on function
  internal.tenant_id
to service_role;

grant execute on function
  internal.business_call,
  internal.run_and_complete,
  internal.run_for_tenant,
  internal.run_function,
  internal.succeeded
to worker_service_user;

-- The vault's keys belong to no tenant, so that no policy gives them to penstock_all_tenants.
grant select, insert, update on internal.vault_key to penstock_all_tenants;
-- Workers that wait on mail servers belong to no tenant either.
grant select, insert, update, delete on internal.mail_watcher to penstock_all_tenants;
-- So do people who operate the whole installation, and what they did.
grant select, insert, update, delete on internal.operator_session, internal.operator_link, internal.operator_audit,
  internal.operator_key
to penstock_all_tenants;
-- And API processes whose pages somebody follows.
grant select, insert, update, delete on internal.watcher to penstock_all_tenants;
grant select on internal.watcher to penstock_queue;
