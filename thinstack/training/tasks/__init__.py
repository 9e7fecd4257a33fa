"""The built-in tasks: modules and folders without a leading underscore."""
