-- Every heading a chunk contains, each as [place in the document's text, "outer", …, "itself"]; `heading_path` is the path at its
-- start. Chunks that exist get theirs when their document is indexed again.
alter table ingest.chunk add column headings jsonb not null default '[]';
