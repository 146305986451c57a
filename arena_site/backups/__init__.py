"""One file that holds everything an arena keeps, and the way back."""
