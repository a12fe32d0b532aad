-- A company's name without case, accents, punctuation and legal form, so that "ACME, Inc." and "Acme GmbH" are the same.
-- Null for names that say nothing, such as "n/a", which would make one client of strangers.
create or replace function ingest.normal_name(_name text)
returns text
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plain text := regexp_replace(lower(regexp_replace(normalize(left(_name, 300), nfkd), U&'[\0300-\036f]', '', 'g')), '''', '', 'g');
  v_words text[];
  v_name text;
begin
  v_plain := regexp_replace(replace(replace(v_plain, '&', ' and '), '.', ''), '[^[:alnum:]]+', ' ', 'g');
  v_words := array_remove(string_to_array(btrim(v_plain), ' '), '');
  v_name := array_to_string(v_words, ' ');
  if v_words[1] = 'the' and cardinality(v_words) > 1 then
    v_words := v_words[2:];
  end if;
  while cardinality(v_words) > 1 and v_words[cardinality(v_words)] in (
    'and', 'ab', 'ag', 'aps', 'as', 'asa', 'bv', 'co', 'company', 'corp', 'corporation', 'eg', 'ek', 'ev', 'gbr', 'ggmbh',
    'gmbh', 'group', 'holding', 'holdings', 'inc', 'incorporated', 'kft', 'kg', 'kgaa', 'kk', 'limited', 'llc', 'llp', 'lp',
    'ltd', 'ltda', 'mbh', 'nv', 'ohg', 'oy', 'oyj', 'plc', 'pte', 'pty', 'sa', 'sarl', 'sas', 'sasu', 'se', 'sl', 'slu',
    'spa', 'spzoo', 'srl', 'sro', 'ug')
  loop
    v_words := v_words[:cardinality(v_words) - 1];
  end loop;
  v_name := array_to_string(v_words, ' ');
  if length(v_name) < 2 or v_name in (
    'n a', 'na', 'none', 'null', 'unknown', 'test', 'self', 'self employed', 'selfemployed', 'freelance', 'freelancer',
    'independent', 'private', 'personal', 'individual', 'student', 'retired', 'unemployed', 'other', 'company', 'my company',
    'not applicable', 'not available', 'tbd', 'xxx')
  then
    return null;
  end if;
  return v_name;
end;
$$;
