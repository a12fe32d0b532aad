-- Whether a search with this filter is about clients too: they have a project and a source, and nothing else a filter
-- may ask for.
create or replace function ingest.clients_match(_filter jsonb)
returns boolean
language sql
immutable
parallel safe
as $$
  select coalesce(_filter, '{}') - array['projects', 'sources'] = '{}';
$$;
