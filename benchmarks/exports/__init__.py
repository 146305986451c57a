"""Files of a run. Each format is one module with a function from RunExport to chunks."""
