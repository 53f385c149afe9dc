"""Takes what it is given and never answers: in the place of a reader of documents that hangs."""

import sys
import threading

sys.stdin.buffer.read()
threading.Event().wait()
