"""What the Hugging Face hub, and programs that know its models, want of a bundle; and how one gets
there. The way back is `bundle/remote.py`."""
