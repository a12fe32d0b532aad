-- The query with words that no document contains replaced by the likeliest that differ in one letter and that some document contains;
-- null if there are none. For models that know a word only by its spelling. At most three words of six letters and more; a word with a
-- capital in the middle of a query is taken for a name. Raises PS012.
create or replace function search.respelt(_query text)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_configs text[] := array(select u.text_config from ingest.text_config_used u where u.tenant_id = v_tenant_id order by 1);
  v_answer text := _query;
  v_unknown text[];
  v_wrong record;
  v_right text;
begin
  -- Most queries end here: all their words are known, or too short or long to tell.
  v_unknown := array(
    select distinct l.lexeme
    from unnest(v_configs) as c (config)
    cross join lateral unnest(ingest.lexemes(c.config, left(_query, 2000))) l
    where not exists (select from ingest.lexeme_count k where k.tenant_id = v_tenant_id and k.lexeme = l.lexeme)
      and not exists (select from ingest.posting p where p.tenant_id = v_tenant_id and p.lexeme = l.lexeme)
    limit 32);
  if v_unknown = '{}' then
    return null;
  end if;
  for v_wrong in
    select r.word
    from (
      select w.word, bool_and(l.lexeme = any (v_unknown)) as is_unknown
      from (
        select distinct lower(w.word) as word
        from regexp_split_to_table(left(_query, 2000), '[^[:alnum:]]+') with ordinality as w (word, place)
        where w.word ~ '^[[:alpha:]]{6,24}$' and (w.place = 1 or w.word !~ '^[[:upper:]][[:lower:]]')
        limit 32
      ) w
      cross join unnest(v_configs) as c (config)
      cross join lateral unnest(to_tsvector(c.config::regconfig, w.word)) l
      group by w.word
    ) r
    where r.is_unknown
    order by length(r.word) desc, r.word
    limit 3
  loop
    select o.word into v_right
    from (
      select n.text_config, n.lexeme, coalesce(c.df, 1) as df
      from search.near_words(v_wrong.word, v_configs) n
      left join ingest.lexeme_count c on c.tenant_id = v_tenant_id and c.lexeme = n.lexeme
      order by df desc, n.lexeme
      limit 1
    ) n
    cross join lateral search.one_edit(v_wrong.word, v_configs) as o (word)
    where to_tsvector(n.text_config::regconfig, o.word) @@ quote_literal(n.lexeme)::tsquery
    -- Of several with this lexeme: without a letter typed twice, or else the longest, which has its ending.
    order by o.word = regexp_replace(v_wrong.word, '(.)\1', '\1') desc, length(o.word) desc, o.word
    limit 1;
    if found then
      v_answer := regexp_replace(v_answer, '\m' || v_wrong.word || '\M', v_right, 'gi');
    end if;
  end loop;
  return nullif(v_answer, _query);
end;
$$;
