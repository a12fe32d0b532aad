"""How well files are read: generated documents whose content is known, Penstock beside other libraries."""
