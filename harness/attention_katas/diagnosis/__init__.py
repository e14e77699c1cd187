"""What is behind a failure: by name where a known mistake explains every answer, else by symptom.

causes        what the judge calls with a recorded run
failed_run    that run, what is known of its kata, and how to ask more
diagnose      which known mistakes agree with every answer, asking further questions
equivalence   what a function does with a question, and when two do the same
hypotheses    the known mistakes of a kata as functions, singly and in twos
followup      further questions to the learner's code
attribution   whether something that the function builds on is wrong instead
exceptions    what an exception says about the axes that met
"""
