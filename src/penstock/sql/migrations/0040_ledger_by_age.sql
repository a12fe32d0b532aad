-- The ledger's sweep finds what is past its retention by an index in the order of time. A BRIN index does not help with that: rows that were
-- swept are filled with newer ones, so that soon every range of pages holds old and new rows, and each sweep read the whole ledger.
-- The cast keeps this index out of take_in()'s sight: while the ledger is empty it costs as little as the primary key to look a message up
-- by, and a plan that was made then would read the whole ledger for each message.
create index taken_taken_at_by_inlet_idx on queues.taken ((inlet_id::bigint), taken_at);
drop index queues.taken_taken_at_idx;
