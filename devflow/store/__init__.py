"""The embedded database: schema, units of work on the store's thread, one repository module per aggregate."""
