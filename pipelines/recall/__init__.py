"""Search over turns and notes."""
