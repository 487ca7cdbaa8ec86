"""What a unit of each stage does: read its inputs, ask the engine where it must, and say what is to be stored. Nothing here commits."""
