"""What a class is told about itself, and its teacher: `kata grade report`.

rows       a run of the ledger, with what is needed of each verdict
regrade    two runs side by side: whose grade changed though the code did not
alike      code of the same form
anonymous  numbers instead of names
findings   all of that together, as plain data
page       ... as an HTML page: page_* compute views of it, templates/ lay them out
table      ... as CSV
screen     ... as a few lines on the terminal
"""
