"""Rules of algebra: exact ones always, others by the kind of freedom that they need."""
