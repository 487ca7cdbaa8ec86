"""The four stages; none imports another: `run` hands values from one to the next."""
