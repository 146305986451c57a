"""Numbers for pages: results, grades, run against run, heat map and report."""
