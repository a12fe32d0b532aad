-- Operations on sources, clients, processes, keys, sessions, queues, workers and schedules; a worker can be asked to stop.

alter type ingest.operation_action add value 'sources.sync';
alter type ingest.operation_action add value 'sources.pause';
alter type ingest.operation_action add value 'sources.resume';
alter type ingest.operation_action add value 'clients.delete';
alter type ingest.operation_action add value 'processes.retry';
alter type ingest.operation_action add value 'keys.revoke';
alter type ingest.operation_action add value 'sessions.end';
alter type ingest.operation_action add value 'queues.pause';
alter type ingest.operation_action add value 'queues.resume';
alter type ingest.operation_action add value 'workers.stop';
alter type ingest.operation_action add value 'schedules.run';
alter type ingest.operation_action add value 'schedules.pause';
alter type ingest.operation_action add value 'schedules.resume';

-- Null: nobody asked. Its next heartbeat tells the worker.
alter table queues.worker add column stop_asked_at timestamptz;
alter table queues.worker add column stop_asked_by text;
