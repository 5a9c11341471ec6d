"""What a compilation tells: the JSON summary and the text for a terminal."""
