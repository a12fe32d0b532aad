-- The same enqueue from any language: one call inside the transaction of the program that has work to do.
begin;
create temporary table customer (email text) on commit drop;
insert into customer values ('grace@example.com');
select queues.enqueue('send_welcome', jsonb_build_object('email', email)) from customer;
commit;
