"""What is behind a failure: by name where a known mistake explains every answer, else by symptom.

behaviour    what a function did with a question, and when two did the same
hypotheses   the known mistakes of a kata as functions, singly and in twos
inquiry      which of them agree with everything that was seen, asking further questions
blame        whether something that the function builds on is wrong instead
exceptions   what an exception says about the axes that met
"""
