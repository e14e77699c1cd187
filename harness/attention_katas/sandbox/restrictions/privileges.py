"""No new privileges: set-user-ID programs give none, and root loses its capabilities.

Of root's capabilities only the right to read files stays: lazily imported modules may be in
another user's home. Landlock decides which files may be read at all.
"""

from __future__ import annotations

import ctypes
import struct

from . import linux

NAME = "no new privileges"
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_READ_SEARCH = 1 << 2


def apply() -> str:
    """Set no_new_privs and drop all capabilities but CAP_DAC_READ_SEARCH."""
    if not linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1):
        return ""
    libc = linux.libc()
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), 8)
    sets = ctypes.create_string_buffer(24)
    if libc.capget(header, sets):
        return ""
    effective, permitted = (
        word & _CAP_DAC_READ_SEARCH for word in struct.unpack_from("=2I", sets.raw)
    )
    if libc.capset(header, struct.pack("=6I", effective, permitted, 0, 0, 0, 0)):
        return ""
    return NAME
