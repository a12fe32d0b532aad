"""QuickBooks Online: customers and invoices."""
