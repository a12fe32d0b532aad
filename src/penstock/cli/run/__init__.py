"""Commands that run until they are stopped: up, api, worker."""
