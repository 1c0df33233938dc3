"""The page that solves and draws puzzles in a browser, and the live view of a tournament.

`site` writes the page as files for any web server. `questions` and `boards` are its Python, which runs in the
browser with the scripts in `static/`; `pyodide` fetches the interpreter. `server` serves the files here.
It comes with `live`, the results of a folder, and `guard`, the rules for requests.
"""
