  if coalesce(btrim(_subject), '') = '' then
    validation_failure_message := 'subject is missing: pass any text that names it, such as an id';
    return;
  end if;
  if length(_subject) > 500 then
    validation_failure_message := format('subject has %s characters; the limit is 500', length(_subject));
    return;
  end if;
