"""The web console: the built bundle of /console, as package data in `dist`."""
