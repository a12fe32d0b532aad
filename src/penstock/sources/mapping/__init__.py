"""Field maps: how a provider's record becomes a text and facts about a client."""
