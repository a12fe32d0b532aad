-- Who may search. All of it works for the transaction's tenant; functions that are not listed here are called by search.find().
grant usage on schema search to penstock_api, worker_service_user, service_role, penstock_reader;

grant execute on function
  search.background,
  search.candidate_documents,
  search.find,
  search.live_hits,
  search.models,
  search.query_terms,
  search.respelt,
  search.uses_model
to penstock_api, worker_service_user, service_role;

grant execute on function
  search.vector_collections
to penstock_api, worker_service_user, service_role, penstock_reader;
