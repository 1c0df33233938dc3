"""A local web page to paste, draw, step and see; for a folder of results, the tournament as it goes on.

`app` has the addresses, `boards` what goes over the wire, `solves` the processes of the bot, `live` the results of
a folder, `guard` what is refused, `server` the socket. What the browser runs is in `static/`.
"""
