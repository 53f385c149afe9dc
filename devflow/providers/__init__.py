"""Model servers: one event set over every wire. `transport` alone imports httpx; nothing here knows the database."""
