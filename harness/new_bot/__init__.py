"""Small bots to start from, in Python and in C++: files for `nonojudge new-bot`"""
