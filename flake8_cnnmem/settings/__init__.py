"""What a user sets: the options, where they are configured, `# cnnmem:` comments, the environments to look in."""
