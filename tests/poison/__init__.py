"""Text that wants to become a memory and must not: cases as data, the doors they come through, and what reaches where."""
