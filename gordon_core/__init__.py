"""The law of recovery as pure values and functions: it decides and never acts."""
