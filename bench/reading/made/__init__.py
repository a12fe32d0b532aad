"""Generated documents whose content is known; each module is a family of types and has `make(folder)`."""
