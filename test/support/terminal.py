"""terminal.py ROWS COLUMNS PROGRAM ARG…: runs a program on a new terminal and prints what it writes there.
Reads lines from standard input: `key TEXT` types TEXT after decoding its escapes, `size ROWS COLUMNS` resizes."""
import fcntl, os, pty, select, struct, sys, termios

rows, columns, *command = sys.argv[1:]


def resize(rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', int(rows), int(columns), 0, 0))


# The child waits for this pipe, so that it never sees a terminal without a size.
ready, go = os.pipe()
pid, terminal = pty.fork()
if pid == 0:
    os.read(ready, 1)
    os.execvp(command[0], command)
resize(rows, columns)
os.write(go, b'.')
sources = [terminal, 0]
orders = b''
while True:
    for source in select.select(sources, [], [])[0]:
        try:
            data = os.read(source, 65536)
        except OSError:
            data = b''
        if source == 0:
            if not data:
                sources.remove(0)
            *lines, orders = (orders + data).split(b'\n')
            for line in lines:
                word, rest = line.decode().split(' ', 1)
                if word == 'key':
                    os.write(terminal, rest.encode().decode('unicode_escape').encode())
                else:
                    resize(*rest.split())
        elif data:
            os.write(1, data)
        else:
            status = os.waitpid(pid, 0)[1]
            sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
