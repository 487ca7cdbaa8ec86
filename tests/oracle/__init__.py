"""A fake Messages server on loopback, and an oracle behind it that answers from gold annotations and lies at set rates."""
