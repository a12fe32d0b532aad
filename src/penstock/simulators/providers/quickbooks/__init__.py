"""The simulated QuickBooks Online."""
