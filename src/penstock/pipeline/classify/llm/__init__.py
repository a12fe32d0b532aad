"""A language model as the classifier, behind an OpenAI-compatible or an Anthropic endpoint."""
