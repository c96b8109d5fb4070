"""The subcommands: one module each with `add_parser`; arguments, printing and nothing else."""
