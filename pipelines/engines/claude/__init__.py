"""The Claude engine: what a model reads beside the rules. Pure but for the `Asking` port; the provider's SDK is named in `client` alone."""
