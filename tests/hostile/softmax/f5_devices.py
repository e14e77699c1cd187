# row: F5
# outcome: passed
# needs: read-only files
# opens disks, terminals and other devices
import os


def attempt():
    for name in ["/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/ptmx", "/dev/net/tun", "/dev/shm/x", "/dev/full"]:
        try:
            os.close(os.open(name, os.O_RDONLY))
        except OSError:
            continue
        return
    raise OSError("none of them")


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: opens disks, terminals and other devices")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
