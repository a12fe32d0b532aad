-- Objects that events and listings tell of: the order of events, sources by bucket, and tasks that wait in line for a key.

-- The newest event that was looked at, in the form of S3's sequencers: hexadecimal, compared from the left.
alter table ingest.source_document add column sequencer text;
create index source_bucket_idx on ingest.source ((config ->> 'bucket')) where kind = 's3' and removed_at is null;

-- `wait`: tasks of a key run one at a time and in the order they were enqueued, each after the one before has ended for good.
alter type queues.on_duplicate add value 'wait';
