"""The store in PostgreSQL: several servers over one database."""
