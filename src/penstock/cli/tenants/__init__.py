"""Commands about tenants: their keys, projects, sources and deletion."""
