"""The engine that needs no key and no network: rules and values. Its patterns are compiled where `engine` is imported, and nowhere before."""
