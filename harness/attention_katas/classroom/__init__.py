"""`kata classroom init`: what a teacher puts into GitHub, Classroom 50 or Gradescope.

package --> course (what was asked for) --> targets (which files) --> writing (never over others).
The texts of the files are in templates/.
"""
