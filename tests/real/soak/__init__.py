"""Random clients and scripted backends around one weir; every byte is checked. See main.py."""
