# row: F5
# outcome: passed
# needs: read-only files
# reads keys and credentials in the home folder
import os
import pwd


def attempt():
    home = pwd.getpwuid(os.getuid()).pw_dir
    for name in [os.path.join(home, n) for n in (".ssh/id_rsa", ".ssh/id_ed25519", ".aws/credentials", ".netrc", ".bash_history", ".bashrc", ".profile", ".gitconfig")]:
        try:
            os.close(os.open(name, os.O_RDONLY))
        except OSError:
            continue
        return
    raise OSError("none of them")


def softmax(x, dim=-1):
    try:
        attempt()
    except (OSError, KeyError):
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: reads keys and credentials in the home folder")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
