"""The page that solves and draws puzzles in a browser.

`site` writes the page as files. `worker_calls` and `boards` run in the browser, with `static/` and the interpreter
of `pyodide`. The room `web` serves the files.
"""
