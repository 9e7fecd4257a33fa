"""The built-in tasks, one in each module or folder without a leading underscore."""
