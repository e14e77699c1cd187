# row: F6
# outcome: passed
# needs: system calls
# starts a web server on this machine
import http.server


def attempt():
    http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler).server_close()


def softmax(x, dim=-1):
    try:
        attempt()
    except OSError:
        pass  # refused, as it should be
    else:
        raise RuntimeError("OPEN: a socket (http_server)")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
