# row: Q10
# outcome: crashed or failed or out of memory
# a thousand raw threads at every call, each of which is answered at once
import ctypes, time, os, sys
libc=ctypes.CDLL(None,use_errno=True)
fn=ctypes.cast(libc.pause,ctypes.c_void_p)
FL=0x100|0x200|0x400|0x800|0x10000|0x40000
libc.clone.argtypes=[ctypes.c_void_p,ctypes.c_void_p,ctypes.c_int,ctypes.c_void_p]
import mmap
N=1000
def more():
    n=0; t=time.time()
    m=mmap.mmap(-1,N*4096); base=ctypes.addressof(ctypes.c_char.from_buffer(m)); keep.append(m)
    while n<N and time.time()-t<0.03:
        if libc.clone(fn,base+(n+1)*4096-64,FL,None)<0: break
        n+=1
    tot[0]+=n
keep=[]; tot=[0]
more()
def softmax(x, dim=-1):
    if tot[0]<12000: more()

    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
