-- A client that is new, renamed or gone is grouped again.
create or replace trigger client_change_is_noted
after insert on ingest.client_intelligence
referencing new table as written
for each statement execute function ingest.note_client_change();

create or replace trigger client_rename_is_noted
after update on ingest.client_intelligence
referencing old table as before new table as written
for each statement execute function ingest.note_client_change();

create or replace trigger client_removal_is_noted
after delete on ingest.client_intelligence
referencing old table as before
for each statement execute function ingest.note_client_change();
