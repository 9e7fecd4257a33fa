"""Tree-structured sentence encoders, exported with their tree logic inside."""
