"""Tools for people who write katas."""
