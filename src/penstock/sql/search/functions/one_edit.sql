-- The words that a word becomes when one letter is missing, added, replaced or swapped with its neighbour: some hundreds. The letters
-- are those of the word's script: Cyrillic, Greek, Arabic, or a to z with the accented letters of the languages in use. `simple` may be
-- any language, so it has the accented letters of all. At most 110 letters, so that the number of words is linear in the word's length.
create or replace function search.one_edit(_word text, _configs text[])
returns setof text
language sql
immutable
parallel safe
as $$
  with alphabet as (
    select case
      when _word ~ '[\u0400-\u04FF]' then 'абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґђјљњћџ'
      when _word ~ '[\u0370-\u03FF\u1F00-\u1FFF]' then 'αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ'
      when _word ~ '[\u0620-\u064A]' then 'ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي'
      else 'abcdefghijklmnopqrstuvwxyz' || (
        select coalesce(string_agg(a.letters, ''), '')
        from (
          values
            ('basque', 'ñü'), ('catalan', 'àçèéíïòóúü'), ('danish', 'æøåé'), ('dutch', 'ëïéèöü'), ('estonian', 'äöõüšž'),
            ('finnish', 'äöå'), ('french', 'àâæçéèêëîïôœùûüÿ'), ('german', 'äöüßé'), ('hungarian', 'áéíóöőúüű'), ('irish', 'áéíóú'),
            ('italian', 'àèéìíòóùú'), ('lithuanian', 'ąčęėįšųūž'), ('norwegian', 'æøåéèêóòô'), ('portuguese', 'áâãàçéêíóôõúü'),
            ('romanian', 'ăâîșțşţ'), ('serbian', 'čćđšž'), ('spanish', 'áéíñóúü'), ('swedish', 'åäöé'), ('turkish', 'çğıöşüâîû'),
            ('simple', 'àáâãäåæāăąçćčďđðèéêëēėęěğģìíîïīįıķĺļľłñńņňòóôõöøőœŕřśşșšßťţțþùúûüūůűųýÿźżž')
        ) as a (config, letters)
        where a.config = any (_configs))
      end as letters
  ), letter as (
    select distinct l.letter from alphabet a cross join regexp_split_to_table(a.letters, '') as l (letter)
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
