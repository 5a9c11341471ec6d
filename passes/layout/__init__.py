"""`ge-optimize-layout`: transposes moved to where they cancel, shrink or are free."""
