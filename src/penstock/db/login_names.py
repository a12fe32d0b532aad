"""Names of the embedded server's logins for daily work."""

RUNTIME = "penstock_runtime"
OPERATOR = "penstock_operator"
