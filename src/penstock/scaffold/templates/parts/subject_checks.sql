  if coalesce(btrim(_subject), '') = '' then
    validation_failure_message := 'subject is missing: say what it is about, for example by an id';
    return;
  end if;
  if length(_subject) > 500 then
    validation_failure_message := format('subject has %s characters, 500 at most', length(_subject));
    return;
  end if;
