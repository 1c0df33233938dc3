"""The judge: runs any bot, verifies, scores, compares, reports."""
