-- The words that a word becomes when one letter is missing, added, replaced or swapped with its neighbour: some hundreds.
create or replace function search.one_edit(_word text, _configs text[])
returns setof text
language sql
immutable
parallel safe
as $$
  with letter as (
    select l.letter
    from regexp_split_to_table(
      'abcdefghijklmnopqrstuvwxyz' || case when _configs <@ '{english,simple}' then '' else 'äöüßéèàçñåøæ' end, '') as l (letter)
  )
  select overlay(_word placing '' from i for 1) from generate_series(1, length(_word)) i
  union
  select overlay(_word placing substr(_word, i + 1, 1) || substr(_word, i, 1) from i for 2)
  from generate_series(1, length(_word) - 1) i
  union
  select overlay(_word placing l.letter from i for 1) from generate_series(1, length(_word)) i cross join letter l
  union
  select overlay(_word placing l.letter from i for 0) from generate_series(1, length(_word) + 1) i cross join letter l;
$$;
