"""The studies that are installed, one in each file: experiments of papers, and their tables for a user's own models."""
