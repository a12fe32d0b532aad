-- The list of clients is also ordered by when each last changed.

create index client_group_updated_at_idx on ingest.client_group (tenant_id, updated_at, group_id);
