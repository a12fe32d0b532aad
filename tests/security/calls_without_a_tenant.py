"""Functions that see or serve every tenant by design, each with its reason."""

from __future__ import annotations

SEES_EVERY_TENANT = {
    "all_tenants.add_first_key": "keys of the vault belong to no tenant; what KMS wrapped opens nothing",
    "all_tenants.wrapped_keys": "the same; answers keys as KMS wrapped them",
    "all_tenants.declare_source_kind": "kinds of sources belong to no tenant; answers nothing",
    "all_tenants.begin_operation": "for workers; only operations of operators, which belong to no tenant",
    "all_tenants.step_operation": "the same; acts on tasks of all tenants, as an operator asked; a word",
    "all_tenants.projects_with_clients_to_embed": "maintenance of clients; answers ids and models",
    "all_tenants.settle_bulk": "maintenance of re-indexes of all tenants; answers a count",
    "all_tenants.settle_operations": "maintenance of operations of all tenants; answers a count",
    "all_tenants.due_parameters": "maintenance of secrets outside the database; answers names made of ids",
    "all_tenants.note_incidents": "finds sources of all tenants that somebody is told about; for workers",
    "all_tenants.start_due_subscriptions": "keeps mailboxes of all tenants subscribed; answers a count",
    "all_tenants.take_stage_samples": "samples the stages of all tenants, each its own; answers a count",
    "all_tenants.take_mail_watches": "workers wait on the mail servers of all tenants; answers no secret",
    "all_tenants.end_mail_watches": "a worker that stops frees what it holds of all tenants; a count",
    "all_tenants.wake_mail_watch": "for the worker that waits on a mailbox; answers a boolean",
    "all_tenants.look_up_notifications": "as wake_by_subscription, without writing; the hash opens it",
    "all_tenants.sources_of_objects": "an event of a bucket names no tenant; for workers, answers slugs",
    "all_tenants.wake_by_account": "a provider's notification names no tenant; its token was verified before",
    "all_tenants.wake_by_subscription": "a notification has no key; the hash of its secret state opens it",
    "all_tenants.note_parameters": "maintenance of secrets outside the database, for all tenants",
    "all_tenants.due_sweeps": "maintenance of an index outside the database, for all tenants",
    "all_tenants.end_own_session": "a browser signs out; the hash of its session is all that opens it",
    "all_tenants.watch": "an API process says that somebody looks at pages; answers nothing",
    "all_tenants.end_watch": "the same, that nobody does any more; answers nothing",
    "all_tenants.find_session": "a request is whose session it carries; the hash is all that opens it",
    "all_tenants.use_login_link": "somebody who signs in has no key; the hash of the link opens it",
    "all_tenants.find_deletion": "a deleted account has no key; the hash of its receipt's token opens it",
    "all_tenants.find_key": "a request is whose key it carries; the hash of a key is all that opens it",
    "all_tenants.find_operator_key": "as find_key; the key of an operator is no tenant's",
    "all_tenants.find_tenant": "a delivery names its tenant before any is set; its signature is checked next",
    "all_tenants.forget_connects": "retention of all tenants; answers a count",
    "all_tenants.forget_old": "retention of all tenants; answers a count",
    "all_tenants.forget_embeddings": "retention of all tenants; answers a count",
    "all_tenants.note_marked": "maintenance of an index outside the database, for all tenants",
    "all_tenants.return_from_fallback": "sends documents of all tenants to their own model; answers a count",
    "all_tenants.prepare_vectors": "makes empty tables; answers nothing",
    "all_tenants.refresh_statistics": "counts words of all tenants, each under its own; answers a count",
    "all_tenants.show_connect": "a user coming back from a provider has no key; the page's address opens it",
    "all_tenants.use_state": "a provider's redirect has no key; the hash of the state is all that opens it",
    "all_tenants.settle_documents": "looks for stranded documents of all tenants; answers a count",
    "all_tenants.settle_stranded": "ends stranded documents of all tenants; answers ids and codes",
    "all_tenants.settle_syncs": "ends syncs of all tenants whose task is gone; answers a count",
    "all_tenants.start_due_syncs": "asks for due syncs of all tenants, each under its own; answers a count",
    "all_tenants.start_file_deletions": "starts removals of all tenants, each under its own; answers a count",
    "all_tenants.sweep_generations": "removes dead generations of all tenants; answers a count",
    "all_tenants.sweep_orphans": "removes orphaned secrets of all tenants; answers a count",
    "all_tenants.sweep_processes": "wakes forgotten processes of all tenants; answers a count",
    "all_tenants.tend_vector_indexes": "builds the indexes of all tenants; answers a count",
    "all_tenants.abandon_intents": "maintenance of the blob store of all tenants; answers paths made of ids",
    "all_tenants.forget_intents": "maintenance of the blob store, for all tenants; answers a count",
}
"""By design, each with its reason. Whatever else is in `all_tenants` fails until it stands here."""

SEES_ITS_OWN = {
    "all_tenants.document_figures",
    "all_tenants.failed_groups",
    "all_tenants.failed_members",
    "all_tenants.list_roots",
    "all_tenants.restart_root",
    "all_tenants.run_versions",
    "all_tenants.show_root",
    "all_tenants.stage_figures",
}
"""In `all_tenants` because an operator sees every tenant by them; a tenant that calls them is probed."""

SERVES_EVERY_TENANT = {
    "ingest.note_collection": "collections belong to the installation, one per model; answers nothing",
    "search.vector_collections": "the same; answers models of the installation and their collections",
    "queues.time_marks": "an API process looks for what time alone changes; answers counts of no tenant's",
    "queues.take_samples": "samples the queues, whosever tasks they hold; answers a count",
    "queues.announce": "a worker works for every tenant, and tells pages to look again; a count of seconds",
    "queues.admit": "decides what is due in a queue, whosever it is",
    "queues.claim": "a worker works for every tenant",
    "queues.close_cancelled": "closes what this worker holds",
    "queues.complete": "closes what this worker holds",
    "queues.complete_here": "closes what this worker holds",
    "queues.complete_task": "closes what was dequeued, the same without a worker",
    "queues.dequeue_next_available_task": "claims, the same without a worker",
    "queues.extend": "extends what this worker holds",
    "queues.fail": "closes what this worker holds",
    "queues.fail_task": "closes what was dequeued, the same without a worker",
    "queues.hold_inlets": "a worker reads the inlets of every tenant; inside a tenant only its own",
    "queues.inlet_gauges": "a worker's metrics show the inlets of every tenant; inside a tenant only its own",
    "queues.free_inlets": "gives up what this process holds",
    "queues.sweep_inlets": "retention of all tenants; answers a count",
    "queues.take_in": "a worker takes in messages of every tenant; inside a tenant only of its own inlets",
    "queues.take_from_pgmq": "the same, from a queue of pgmq",
    "queues.pgmq_waiting": "counts messages that wait for a worker",
    "queues.bullmq_waiting": "the same, in a schema that the caller may read",
    "queues.holds": "asks about what this worker holds",
    "queues.maintain": "retention of all tenants; answers counts",
    "queues.release": "closes what this worker holds",
    "queues.rescue": "takes from silent workers, whosever the task is",
    "queues.snooze": "closes what this worker holds",
    "queues.stop_worker": "gives back what this worker holds",
}
"""Calls of workers: they name a worker and a lease, which only that worker knows, and belong to no tenant."""

NAMES_A_TENANT = {"queues.enqueue", "queues.enqueue_many"}
"""Outside any tenant a producer says whose the task is; inside one it cannot say another's."""

RUNS_FOR_A_TENANT = {"internal.run_for_tenant", "internal.run_and_complete"}
"""Outside any tenant a worker says whose lease it runs; inside one it cannot say another's."""
