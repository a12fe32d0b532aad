-- What a re-index waits for at its project's gate, with the figures and what to type; null if it was not asked yet. Runs with its
-- caller's rights.
create or replace function ingest.gate_says(_run_id uuid)
returns text
language sql
stable
as $$
  select case
    when e.state = 'asking' and queues.task_state(e.task_id) = 'dead' then format(
      'waits for its gate: the questions could not be asked; its task %s says why: penstock explain %1$s', e.task_id)
    when e.state = 'asking' and e.waits_for is not null then format('waits for its gate: %s', e.waits_for)
    when e.state = 'asking' and not queues.is_served('reindex-project') then
      'waits for its gate: no worker is running that could ask the questions; start one: penstock worker'
    when e.state = 'asking' then format('waits for its gate: %s being asked',
      case e.questions when 1 then '1 question is' else e.questions || ' questions are' end)
    when e.state = 'failed' then format(
      'waits for its gate: nDCG@10 %s with %s, %s with %s; %s got worse: %s; '
        'to go live anyway: penstock project gate accept %s; to stay: penstock project gate cancel %7$s',
      trim(to_char(e.ndcg_after, '0.9999')), case when e.to_embedder = e.from_embedder then 'the new index' else e.to_embedder end,
      trim(to_char(e.ndcg_before, '0.9999')), case when e.to_embedder = e.from_embedder then 'the old' else e.from_embedder end,
      case e.worse_count when 1 then '1 question' else e.worse_count || ' questions' end,
      (select string_agg(left(w.one ->> 'question', 100), ', ' order by w.place)
       from jsonb_array_elements(e.worse) with ordinality as w (one, place) where w.place <= 3)
        || case when e.worse_count > 3 then ', …' else '' end,
      p.slug)
    end
  from ingest.gate_evaluation e
  join accounts.project p on p.project_id = e.project_id
  where e.run_id = _run_id
  order by e.evaluation_id desc limit 1;
$$;
