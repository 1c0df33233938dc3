"""Let programs play without the protocol: each puzzle as a file, and the board in what the program prints"""
