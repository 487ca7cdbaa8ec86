"""What is asked, a module a question: the prompt in two tiers and the schema of the reply side by side."""
