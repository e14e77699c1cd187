# row: I18
# outcome: passed
# sets locale and time zone
import locale
import os
import time

locale.setlocale(locale.LC_ALL, 'C')
os.environ['TZ'] = 'X+25'
time.tzset()


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
