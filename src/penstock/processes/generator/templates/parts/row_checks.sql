  if _{{about_name}} is null then
    validation_failure_message := '{{about_name}} is missing: pass the id of the {{about_words}}';
    return;
  end if;
  if not exists (
    select from {{about_table}} r
    where r.tenant_id = v_tenant_id and r.{{about_name}} = _{{about_name}}{{about_condition}})
  then
    validation_failure_message := format('there is no {{about_words}} %s', _{{about_name}});
    return;
  end if;
