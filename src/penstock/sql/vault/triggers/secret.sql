-- Dooms the parameter of a secret whenever the secret is deleted, by any function.
create or replace trigger parameter_is_doomed
after delete on vault.secret
for each row when (old.parameter_name is not null) execute function vault.doom_parameter();
