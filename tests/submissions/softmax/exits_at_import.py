# outcome: broken
# says: SystemExit
import sys

sys.exit(0)
