"""Files of ours in Netron: its JavaScript under node, its page in a browser."""
