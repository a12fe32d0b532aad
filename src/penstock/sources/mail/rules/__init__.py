"""Stage 1 of relevance: rules that decide about each attachment and text of a mail, without a model."""
