-- Whether a search with this filter can find clients: they have a project and a source, and nothing else that a filter uses.
create or replace function search.clients_match(_filter jsonb)
returns boolean
language sql
immutable
parallel safe
as $$
  select coalesce(_filter, '{}') - array['projects', 'sources'] = '{}';
$$;
