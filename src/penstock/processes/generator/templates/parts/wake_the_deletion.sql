    -- The deletion of the account is waiting for this.
    perform internal.next_check('accounts.account_deletion', d.account_deletion_task_id)
    from accounts.account_deletion_task d where d.tenant_id = v_attempt.tenant_id;
