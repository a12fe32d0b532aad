-- Overwrites what a tenant may have written about people in the rows that stay, and returns how many rows of each kind. Runs
-- with its caller's rights, for the transaction's tenant.
create or replace function accounts.overwrite_personal(_tenant_id uuid)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counts jsonb := '{}';
  v_count bigint;
begin
  update ingest.client_intelligence c set
    client_name = 'anonymized', industry = null, summary = null, key_facts = '{}', external_id = null,
    embedding = null, embedding_model = null, embedding_text_sha256 = null
  where c.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('clients', v_count);
  -- The triggers have put the new name where search reads it, and noted the change.
  delete from ingest.client_text x where x.tenant_id = _tenant_id;
  delete from ingest.client_change x where x.tenant_id = _tenant_id;
  delete from ingest.text_config_used x where x.tenant_id = _tenant_id;

  update ingest.ingestion i set
    uploaded_by = case when i.uploaded_by is not null then 'anonymized' end,
    source_metadata = '{}', error_code = null, error_message = null,
    skip_reason = case when i.skip_reason is not null then 'anonymized' end
  where i.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('ingestions', v_count);

  update ingest.document d set
    filename = null, path = null, external_id = null, title = null, author = null, language = null,
    document_created_at = null,
    document_modified_at = null, reason_code = null, error_message = null, parser = null, page_count = null,
    warnings = '{}', metadata = '{}', pipeline_config = null, staged_pipeline = null, staged_sha256 = null,
    staged_facts = null,
    indexed_pipeline = null,
    content_sha256 = sha256(convert_to(d.document_id::text, 'utf8')), indexed_sha256 = null,
    fallback_embedder = null,
    mime_type = 'application/octet-stream', size_bytes = 0
  where d.tenant_id = _tenant_id;
  update files.file f set
    content_sha256 = sha256(convert_to(f.file_id::text, 'utf8')), mime_type = 'application/octet-stream', size_bytes = 0
  where f.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('files', v_count);

  update ingest.source s set
    name = 'anonymized', account = null, address = null, config = '{}', metadata = '{}', secret_ids = '{}', status_message = null,
    access_token_vault_id = null, refresh_token_vault_id = null, token_expires_at = null
  where s.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('sources', v_count);

  update comms.email_message m set
    from_address = null, to_addresses = '{}', cc_addresses = '{}', bcc_addresses = '{}', reply_to = null,
    subject = 'anonymized', body_text = 'anonymized', body_html = null, message_id = 'anonymized'
  where m.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('emails', v_count);
  update comms.sms_message m set from_number = null, to_number = 'anonymized', body = 'anonymized'
  where m.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('sms', v_count);

  update accounts.project p set
    slug = 'deleted-' || left(p.project_id::text, 36), name = 'anonymized', embedder = 'none', next_embedder = null,
    text_config = 'simple', chunk_strategy = 'structure'
  where p.tenant_id = _tenant_id;
  get diagnostics v_count = row_count;
  v_counts := v_counts || jsonb_build_object('projects', v_count);
  update accounts.tenant t set
    slug = 'deleted-' || t.tenant_id::text, name = 'anonymized', webhook_url = null, webhook_secret_id = null,
    contact_email = null
  where t.tenant_id = _tenant_id;
  return v_counts;
end;
$$;
