-- Who may call which function of the API's schema.
grant usage on schema api to penstock_api, service_role;
grant execute on function api.request_account_deletion to penstock_api, service_role;
