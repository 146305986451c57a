"""How fast the arena is: `make bench`. Figures are printed beside their bars and as ratios; nothing here fails."""
