-- Who may call the functions that see every tenant: the API finds a key or a tenant before any is set, workers do
-- maintenance, operators call the rest.
grant usage on schema all_tenants to penstock_api, worker_service_user, service_role, penstock_reader, penstock_owner;

grant execute on function
  all_tenants.add_first_key,
  all_tenants.declare_source_kind,
  all_tenants.find_tenant,
  all_tenants.prepare_vectors,
  all_tenants.wrapped_keys
to penstock_api, worker_service_user, service_role;

grant execute on function
  all_tenants.end_own_session,
  all_tenants.end_watch,
  all_tenants.find_deletion,
  all_tenants.find_key,
  all_tenants.find_operator_key,
  all_tenants.find_session,
  all_tenants.look_up_notifications,
  all_tenants.show_connect,
  all_tenants.use_login_link,
  all_tenants.use_state,
  all_tenants.wake_by_account,
  all_tenants.wake_by_subscription,
  all_tenants.watch
to penstock_api, service_role;

-- A tenant that looks by these sees its own, an operator all.
grant execute on function
  all_tenants.document_figures,
  all_tenants.failed_groups,
  all_tenants.failed_members,
  all_tenants.list_roots,
  all_tenants.run_versions,
  all_tenants.show_root,
  all_tenants.stage_figures
to penstock_api, service_role, penstock_reader;

grant execute on function
  all_tenants.restart_root
to penstock_api, service_role;

grant execute on function
  all_tenants.ailing_roots,
  all_tenants.embedders_in_use,
  all_tenants.indexed_chunks,
  all_tenants.parameter_health,
  all_tenants.push_health,
  all_tenants.slugs_of,
  all_tenants.vault_keys
to service_role, penstock_reader;

grant execute on function
  all_tenants.settle_documents,
  all_tenants.sources_of_objects
to worker_service_user, service_role;

grant execute on function
  all_tenants.add_next_key,
  all_tenants.begin_audit,
  all_tenants.cancel_operation,
  all_tenants.create_login_link,
  all_tenants.create_operator_key,
  all_tenants.create_tenant,
  all_tenants.delete_view,
  all_tenants.deletion_of,
  all_tenants.document_health,
  all_tenants.end_audit,
  all_tenants.end_rotation,
  all_tenants.end_session,
  all_tenants.forget_key,
  all_tenants.known_blobs,
  all_tenants.list_audit,
  all_tenants.list_operation_items,
  all_tenants.list_operations,
  all_tenants.list_operator_keys,
  all_tenants.list_sessions,
  all_tenants.list_tenants,
  all_tenants.list_views,
  all_tenants.preview_operation,
  all_tenants.put_view,
  all_tenants.revoke_operator_key,
  all_tenants.rewrap_secrets,
  all_tenants.secrets_to_rewrap,
  all_tenants.set_view,
  all_tenants.show_operation,
  all_tenants.start_operation,
  all_tenants.start_rotation,
  all_tenants.unknown_blobs
to service_role;

grant execute on function
  all_tenants.abandon_intents,
  all_tenants.begin_operation,
  all_tenants.due_parameters,
  all_tenants.due_sweeps,
  all_tenants.end_mail_watches,
  all_tenants.forget_connects,
  all_tenants.forget_embeddings,
  all_tenants.forget_intents,
  all_tenants.forget_old,
  all_tenants.note_incidents,
  all_tenants.note_marked,
  all_tenants.note_parameters,
  all_tenants.projects_with_clients_to_embed,
  all_tenants.refresh_statistics,
  all_tenants.return_from_fallback,
  all_tenants.settle_bulk,
  all_tenants.settle_operations,
  all_tenants.settle_stranded,
  all_tenants.settle_syncs,
  all_tenants.start_due_subscriptions,
  all_tenants.start_due_syncs,
  all_tenants.start_file_deletions,
  all_tenants.step_operation,
  all_tenants.sweep_generations,
  all_tenants.sweep_orphans,
  all_tenants.sweep_processes,
  all_tenants.take_mail_watches,
  all_tenants.take_stage_samples,
  all_tenants.tend_vector_indexes,
  all_tenants.wake_mail_watch
to worker_service_user;

grant execute on function
  all_tenants.find_roots,
  all_tenants.restart_root,
  all_tenants.root_state,
  all_tenants.source_tenant
to penstock_owner;

-- The queue's owner finds the tenants that messages of inlets name.
grant usage on schema all_tenants to penstock_queue;
grant execute on function
  all_tenants.fail_job,
  all_tenants.slugs_of,
  all_tenants.tenants_named
to penstock_queue;
