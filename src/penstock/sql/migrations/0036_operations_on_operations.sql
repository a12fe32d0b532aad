-- Operations on operations and on inlets.

alter type ingest.operation_action add value 'operations.cancel';
alter type ingest.operation_action add value 'inlets.pause';
alter type ingest.operation_action add value 'inlets.resume';
