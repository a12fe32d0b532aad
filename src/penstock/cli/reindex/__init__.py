"""`penstock reindex`: re-index a project on the workers or on a cluster."""
