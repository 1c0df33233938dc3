The letter P, as grid reads it.

Lines before the colon in the first column are comments.
: rows

4
6
2 2
2 2
6
4
2
2
2

:columns ---------

9
9
2 2
2 2
4
4

: end - nothing after this colon is read

Enjoy.
