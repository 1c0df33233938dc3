"""A local web page to paste, draw, step and see; for a folder of results, the tournament as it goes on.

`server` has the addresses, `boards` the boards in JSON, `solves` the processes of the bot, `live` the results of a
folder, `guard` the rules for requests. The browser's part is in `static/`.
"""
