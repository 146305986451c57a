"""What prompts are looked at for before they are sent to any model, and what comes of it."""
