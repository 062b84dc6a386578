"""Files of stories and tables of any form, read a row at a time.

`text_file` decodes bytes (one place for encodings), `rows` knows the forms of files (one place to
add another), `stories` makes stories of rows, and `sheet` says which column of a table is what.
"""
