"""`kata classroom init`: what a teacher puts into GitHub, Classroom 50 or Gradescope.

package  where the class gets this package from
course   what the teacher asked for
targets  which files that makes, from the Jinja2 templates in templates/
writing  the files on disk; none is overwritten
"""
