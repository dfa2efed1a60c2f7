"""What the `cnnmem` command prints: a table for people, JSON for programs."""
