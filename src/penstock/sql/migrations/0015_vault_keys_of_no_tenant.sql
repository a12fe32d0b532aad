-- Master keys belong to no tenant, and every table of the schema vault does.
alter table vault.master_key rename to vault_key;
alter table vault.vault_key set schema internal;
