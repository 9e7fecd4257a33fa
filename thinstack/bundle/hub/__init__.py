"""Uploads bundles to the Hugging Face hub, with the files that the hub and its programs expect.
`bundle/remote.py` downloads them."""
