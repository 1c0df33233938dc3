"""The page that solves and draws puzzles in a browser, and the live view of a tournament.

`site` writes the page as files. `worker_calls` and `boards` run in the browser, with `static/` and the interpreter
of `pyodide`. `server` serves the files, with the live view of `live` and the rules of `guard`.
"""
