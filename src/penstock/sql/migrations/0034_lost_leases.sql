-- How many leases a worker held when it was lost: one that held none says nothing about the tasks of others.
alter table queues.worker add column lost_leases integer not null default 0;
