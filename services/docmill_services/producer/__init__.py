"""Producer: scan, watch, plan and pump."""
