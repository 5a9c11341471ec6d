"""Order in time: what happens before what, on which stream, and the events that make it so."""
