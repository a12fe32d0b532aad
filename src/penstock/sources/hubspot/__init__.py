"""HubSpot: companies, contacts and deals."""
