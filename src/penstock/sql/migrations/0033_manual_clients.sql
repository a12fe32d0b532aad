-- What maintenance looks for each minute: clients a person wrote that have no embedding.
create index client_intelligence_not_embedded_idx on ingest.client_intelligence (project_id)
where source_id is null and embedding_model is null;
