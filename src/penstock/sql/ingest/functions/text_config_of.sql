-- The text-search configuration that a document is read with: its own (pipeline_config.language), else that of the language its
-- parser found, else its project's. A project that reads words as they are written (simple) does so in every language.
create or replace function ingest.text_config_of(_pipeline_config jsonb, _language text, _project_config text)
returns text
language sql
stable
as $$
  select coalesce(own.cfgname, case when _project_config <> 'simple' then found.cfgname end, _project_config)
  from (
    select case lower(split_part(_language, '-', 1))
      when 'ar' then 'arabic' when 'da' then 'danish' when 'de' then 'german' when 'el' then 'greek' when 'en' then 'english'
      when 'es' then 'spanish' when 'fi' then 'finnish' when 'fr' then 'french' when 'hu' then 'hungarian' when 'it' then 'italian'
      when 'nb' then 'norwegian' when 'nl' then 'dutch' when 'nn' then 'norwegian' when 'no' then 'norwegian'
      when 'pt' then 'portuguese' when 'ro' then 'romanian' when 'ru' then 'russian' when 'sv' then 'swedish' when 'tr' then 'turkish'
    end as name
  ) l
  left join pg_catalog.pg_ts_config own
    on own.cfgname = _pipeline_config ->> 'language' and own.cfgnamespace = 'pg_catalog'::regnamespace
  left join pg_catalog.pg_ts_config found on found.cfgname = l.name and found.cfgnamespace = 'pg_catalog'::regnamespace;
$$;
