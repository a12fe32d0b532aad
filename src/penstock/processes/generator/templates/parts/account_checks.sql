  if _account_id is null then
    validation_failure_message := 'account_id is missing: pass the id of the account';
    return;
  end if;
  if not exists (
    select from accounts.account_flag g
    where g.tenant_id = v_tenant_id and g.tenant_id = _account_id and g.flag = 'deleted')
  then
    validation_failure_message := format('there is no deleted account %s: request its deletion first', _account_id);
    return;
  end if;
