"""Pure text tools for any language: sentences, words, search tokens, typed values, mood, dates, statements."""
