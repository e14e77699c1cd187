# row: I23
# outcome: broken
# says: is not valid Python
# is a pointer of Git LFS
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a
size 12345
