"""A conformance self-test for authors of bots: the protocol's rules as numbered steps that are carried out."""
