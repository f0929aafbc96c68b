"""Transfer: sessions and files in and out."""
