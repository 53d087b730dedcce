"""The shell around the core: it looks, asks the core what to do, and does exactly that."""
