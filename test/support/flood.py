"""flood.py PORT CONNECTIONS: sends its standard input over each connection and never reads an answer."""
import signal
import socket
import sys

port, connections = int(sys.argv[1]), int(sys.argv[2])
data = sys.stdin.buffer.read()
sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
left = [data] * connections
for one in sockets:
    one.settimeout(0.1)
while any(left):
    for i, one in enumerate(sockets):
        try:
            if left[i]:
                left[i] = left[i][one.send(left[i]):]
        except TimeoutError:
            pass
        except OSError:
            left[i] = b""
print("sent", flush=True)
signal.pause()
