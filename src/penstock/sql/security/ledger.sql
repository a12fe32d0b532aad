-- Every process compares the schema's version with its own at start; the ledger itself stays closed.
grant usage on schema internal to penstock_api, worker_service_user, service_role, penstock_reader;
grant execute on function internal.schema_version() to penstock_api, worker_service_user, service_role, penstock_reader;
