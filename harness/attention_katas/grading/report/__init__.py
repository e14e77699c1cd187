"""What a class is told about itself, and its teacher: `kata grade report`.

facts       what is known of a failure or of a changed grade, as codes and facts
rows        a run of the ledger, with what is needed of each verdict
regrade     two runs side by side: whose grade changed though the code did not
not_run     katas that did not run to their end, and why
similarity  code of the same form
anonymous   numbers instead of names
findings    all of that together, as plain data
pieces      what tables, bars and lists of names on the page are made of
page        ... as an HTML page: page_* compute views of it, templates/ lay them out
table       ... as CSV
screen      ... as a few lines on the terminal
"""
