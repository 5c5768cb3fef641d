#!/usr/bin/python3
"""layer_copy.py LAYER TREE: bring everything that a box's layer says into a copy of its workspace, as whoever copies
by hand would: files, links and directories over what is there, deletions, and nothing judged. For controls of attacks."""
import os
import shutil
import stat
import sys


def mark(path, name):
    try:
        return os.getxattr(path, "user.overlay." + name, follow_symlinks=False)
    except OSError:
        return b""


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def copy(src, dst):
    for name in os.listdir(src):
        a, b = os.path.join(src, name), os.path.join(dst, name)
        st = os.lstat(a)
        if stat.S_ISCHR(st.st_mode) and st.st_rdev == 0 or mark(a, "whiteout"):
            remove(b)
        elif stat.S_ISDIR(st.st_mode):
            if os.path.islink(b) or not os.path.isdir(b) or mark(a, "opaque") == b"y":
                remove(b)
                os.mkdir(b)
            copy(a, b)
            os.chmod(b, stat.S_IMODE(st.st_mode))
        else:
            remove(b)
            shutil.copy2(a, b, follow_symlinks=False)


copy(sys.argv[1], sys.argv[2])
