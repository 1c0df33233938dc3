"""A bot as a program under limits: started, sandboxed, measured, stopped."""
