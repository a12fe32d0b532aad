-- Updates what search reads about clients whenever they are written; once per statement, because a sync writes hundreds.
create or replace trigger client_is_indexed
after insert on ingest.client_intelligence
referencing new table as written
for each statement execute function ingest.index_client();

create or replace trigger changed_client_is_indexed
after update on ingest.client_intelligence
referencing old table as before new table as written
for each statement execute function ingest.index_client();
