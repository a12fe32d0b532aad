"""Names of the embedded server's runtime and operator logins."""

RUNTIME = "penstock_runtime"
OPERATOR = "penstock_operator"
