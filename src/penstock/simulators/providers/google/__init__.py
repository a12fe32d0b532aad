"""The simulated Google Drive and Gmail."""
