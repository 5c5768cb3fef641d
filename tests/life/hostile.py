#!/usr/bin/env python3
"""hostile.py - inside a box: take as much as can be had of one thing that the owner shares, and keep it.

    hostile.py MODE [SECONDS]      one of the modes below
    hostile.py all [SECONDS]       each in a process of its own, again and again

Prints "MODE took N" or "MODE refused: why", then holds what it has. Every loop is bounded, also where nothing
stops it: 1 GiB of memory, 600 MB of disk, 3,000 pipes, 6,000 descriptors."""
import array, ctypes, errno, fcntl, mmap, os, resource, signal, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20
kept = []


def say(mode, n, unit=""):
    print(f"{mode} took {n}{unit}", flush=True)


def all_files():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def instances():
    n = 0
    while n < 5000 and libc.inotify_init() >= 0:
        n += 1
    say("instances", n)


def watches():
    fd, n = libc.inotify_init(), 0
    os.makedirs("/tmp/w", exist_ok=True)
    while n < 600000:
        name = f"/tmp/w/{n}".encode()
        os.mkdir(name)
        if libc.inotify_add_watch(fd, name, 0x100) < 0:
            break
        n += 1
    say("watches", n)


def flying(most=6000):
    """Descriptors to oneself, in sockets that nobody reads."""
    all_files()
    n = 0
    payload = array.array("i", [0] * 250)
    while n < most:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept.append((a, b))
        a.setblocking(False)
        try:
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, payload)])
            n += 250
        except OSError as e:
            if e.errno == errno.ETOOMANYREFS:
                break
            raise
    say("flying", n)


def nested():
    """The same one level deeper: only the outermost socket is open in a process."""
    all_files()
    out_a, out_b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept.append((out_a, out_b))
    n = 0
    try:
        while n < 6000:
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 250))])
            out_a.setblocking(False)
            out_a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [a.fileno(), b.fileno()]))])
            a.close(), b.close()
            n += 252
    except OSError:
        pass
    say("nested", n)


def pipes():
    all_files()
    n = 0
    try:
        while n < 3000:
            kept.append(os.pipe())
            n += 1
    except OSError:
        pass
    say("pipes", n)


def fifos():
    """Pipes that have a name."""
    all_files()
    n = 0
    try:
        while n < 3000:
            os.mkfifo(f"/tmp/fifo{n}")
            kept.append(os.open(f"/tmp/fifo{n}", os.O_RDWR))
            n += 1
    except OSError:
        pass
    say("fifos", n)


def parkedpipes():
    """Pipes that nobody has open: they are under way on sockets."""
    all_files()
    n = 0
    try:
        while n < 3000:
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            kept.append((a, b))
            ends = [os.pipe()[1] for _ in range(200)]
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", ends))])
            for fd in ends:
                os.close(fd), os.close(fd - 1)
            n += 200
    except OSError:
        pass
    say("parkedpipes", n)


def bigpipes():
    n = 0
    for _ in range(64):
        p = os.pipe()
        kept.append(p)
        try:
            fcntl.fcntl(p[1], 1031, MIB)
            n += 1
        except OSError:
            break
    say("bigpipes", n)


def descriptors():
    """As many as there can be, in many processes."""
    most = all_files() - 20
    for n in range(1, 200000 // most + 2):
        if os.fork() == 0:
            for _ in range(most):
                os.open("/dev/null", os.O_RDONLY)
            time.sleep(60)
            os._exit(0)
        if n % 10 == 0:
            say("descriptors", n * most)


def slow():
    """So many descriptors that to look at them takes long; then memory, as fast as it can be had."""
    most = min(all_files() - 20, 34000)
    for _ in range(34000 // most):
        if os.fork() == 0:
            for _ in range(most):
                os.open("/dev/null", os.O_RDONLY)
            print("slow begins", flush=True)
            time.sleep(60)
            os._exit(0)
    time.sleep(5)  # a few looks
    piece = b"x" * (16 * MIB)
    for n in range(75):
        fd = os.memfd_create("x")
        kept.append(fd)
        os.write(fd, piece)
        print("slow took", (n + 1) * 16, flush=True)


def linger():
    """Sockets that whoever closes them last waits for: closed while somebody looks at them."""
    import threading

    def look_here(fd):  # a call that is recorded, and looked at for that
        for _ in range(3000):
            if libc.bind(fd, b"\2\0" + bytes(14), 16) < 0 and ctypes.get_errno() == errno.EBADF:
                break

    door = socket.create_server(("127.0.0.1", 0))
    for n in range(100):
        s = socket.create_connection(door.getsockname())
        kept.append(door.accept())
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\x10\x0e\0\0")  # an hour
        s.setblocking(False)
        try:
            while True:
                s.send(b"x" * 65536)
        except BlockingIOError:
            pass
        fd = s.detach()
        threading.Thread(target=look_here, args=(fd,), daemon=True).start()
        time.sleep(0.001 + n % 10 * 0.0003)
        threading.Thread(target=os.close, args=(fd,), daemon=True).start()  # waits, if it is the last
        print("linger begins", n, flush=True)
        time.sleep(0.01)
    say("linger", n)


def lease():
    fd = os.open("leased", os.O_RDWR | os.O_CREAT)
    kept.append(fd)
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    try:
        fcntl.fcntl(fd, 1024, fcntl.F_WRLCK)
        say("lease", 1)
    except OSError as e:
        print("lease refused:", e, flush=True)


def pid1():
    n = 0
    for what in (
        lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)),
        lambda: resource.prlimit(1, resource.RLIMIT_DATA, (0, 0)),
        lambda: resource.prlimit(1, resource.RLIMIT_NPROC, (0, 0)),
        lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
        lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
        lambda: os.setpriority(os.PRIO_USER, 0, 19),
    ):
        try:
            what()
            n += 1
        except OSError:
            pass
    say("pid1", n)


def memfd():
    """Memory that no process has mapped."""
    for n in range(64):
        fd = os.memfd_create("x")
        kept.append(fd)
        for _ in range(16):
            os.write(fd, b"x" * MIB)
        print("memfd took", (n + 1) * 16, flush=True)


def parked():
    """The same, and nobody even has it open: it is under way on a socket."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept.append((a, b))
    for n in range(64):
        fd = os.memfd_create("x")
        for _ in range(16):
            os.write(fd, b"x" * MIB)
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
        os.close(fd)
        print("parked took", (n + 1) * 16, flush=True)


def mapped():
    """Written, mapped without being touched, and closed."""
    for n in range(64):
        fd = os.memfd_create("x")
        for _ in range(16):
            os.write(fd, b"x" * MIB)
        kept.append(mmap.mmap(fd, 16 * MIB))
        os.close(fd)
        for extra in os.listdir("/proc/self/fd"):  # mmap keeps a copy
            try:
                if os.readlink(f"/proc/self/fd/{extra}").startswith("/memfd:"):
                    os.close(int(extra))
            except OSError:
                pass
        print("mapped took", (n + 1) * 16, flush=True)


def ghost():
    """The same with files on the disk that have no name any more."""
    for n in range(60):
        fd = os.open(f"ghost{n}", os.O_RDWR | os.O_CREAT)
        os.unlink(f"ghost{n}")
        for _ in range(10):
            os.write(fd, b"x" * MIB)
        m = mmap.mmap(fd, 10 * MIB)
        kept.append(m)
        os.close(fd)
        for extra in os.listdir("/proc/self/fd"):
            try:
                if "ghost" in os.readlink(f"/proc/self/fd/{extra}"):
                    os.close(int(extra))
            except OSError:
                pass
        print("ghost took", (n + 1) * 10, flush=True)


def deleted(n):
    """10 MiB on the disk without a name."""
    fd = os.open(f"gone{n}", os.O_RDWR | os.O_CREAT)
    os.unlink(f"gone{n}")
    for _ in range(10):
        os.write(fd, b"x" * MIB)
    return fd


def rights(sock, data, *fds):
    sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])


def parkedfiles():
    """Deleted files that nobody has open: they are under way on a socket, behind something harmless."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    kept.append((a, b))
    a.send(b"first")
    for n in range(60):
        fd = deleted(n)
        rights(a, b"x", fd)
        os.close(fd)
        print("parkedfiles took", (n + 1) * 10, flush=True)


def nestedfiles():
    """The same three sockets deep."""
    out = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kept.append(out)
    for n in range(60):
        fd = deleted(n)
        for _ in range(2):
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            rights(a, b"x", fd)
            os.close(fd)
            a.close()
            fd = b.detach()
        rights(out[0], b"x", fd)
        os.close(fd)
        print("nestedfiles took", (n + 1) * 10, flush=True)


def waitingfiles():
    """The same in connections that nobody accepts."""
    for n in range(60):
        here = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        here.bind(f"\0waiting{n}")
        here.listen(1)
        kept.append(here)
        there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        there.connect(f"\0waiting{n}")
        fd = deleted(n)
        rights(there, b"x", fd)
        os.close(fd)
        there.close()
        print("waitingfiles took", (n + 1) * 10, flush=True)


def emptymessages():
    """The same in messages without a byte, which no second look finds."""
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    kept.append((a, b))
    for n in range(60):
        if n % 8 == 0:
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            kept.append((a, b))
        fd = deleted(n)
        rights(a, b"", fd)
        os.close(fd)
        b.setblocking(False)
        b.recv(1, socket.MSG_PEEK)
        print("emptymessages took", (n + 1) * 10, flush=True)


def blockedfiles():
    """The same in calls that wait until there is room to send."""
    import threading

    for n in range(60):
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        kept.append((a, b))
        a.setblocking(False)
        for size in (65536, 1):
            try:
                while True:
                    a.send(b"x" * size)
            except BlockingIOError:
                pass
        a.setblocking(True)
        fd = deleted(n)
        threading.Thread(target=rights, args=(a, b"x", fd), daemon=True).start()
        while True:  # until it waits there
            with open("/proc/self/task/%s/syscall" % max(os.listdir("/proc/self/task"), key=int)) as f:
                if f.read().startswith("46 ") or os.uname().machine != "x86_64":
                    break
            time.sleep(0.001)
        os.close(fd)
        print("blockedfiles took", (n + 1) * 10, flush=True)


def unreadable(what):
    """By a program that may be executed and not read: /proc shows its descriptors to nobody."""
    with open("/proc/self/exe", "rb") as f, open("shut", "wb") as g:
        g.write(f.read())
    os.chmod("shut", 0o111)
    os.execv("./shut", ["./shut", __file__, what, str(seconds)])


def shutfiles():
    unreadable("unnamed")


def shutmemfd():
    unreadable("memfd")


def netlink():
    """Answers of the kernel that nobody reads."""
    all_files()
    ask = (16).to_bytes(4, "little") + (9999).to_bytes(2, "little") + b"\x05\x00" + bytes(8)
    for n in range(4000):
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * MIB)
        kept.append(s)
        for _ in range(250):
            s.send(ask)
        if n % 20 == 0:
            print("netlink took", n, flush=True)


def messages():
    """System V messages without a byte: the queues look empty."""
    text = ctypes.create_string_buffer(8)
    text[0] = b"\1"
    n = 0
    for _ in range(2000):
        queue = libc.msgget(0, 0o1600)
        while queue >= 0 and libc.msgsnd(queue, text, 0, 0o4000) == 0:
            n += 1
        print("messages took", n, flush=True)


def shm():
    """System V segments that are detached."""
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    libc.shmdt.argtypes = [ctypes.c_void_p]
    for n in range(64):
        seg = libc.shmget(0, ctypes.c_size_t(16 * MIB), 0o1600)
        at = libc.shmat(seg, None, 0)
        if seg < 0 or at == ctypes.c_void_p(-1).value:
            break
        ctypes.memset(at, 1, 16 * MIB)
        libc.shmdt(at)
        print("shm took", (n + 1) * 16, flush=True)


def sockets():
    """Bytes that are sent and never read."""
    all_files()
    total = 0
    while total < 1024 * MIB:
        a, b = socket.socketpair()
        kept.append((a, b))
        a.setblocking(False)
        try:
            while True:
                total += a.send(b"x" * 65536)
        except BlockingIOError:
            pass
        if len(kept) % 50 == 0:
            print("sockets took", total // MIB, flush=True)


def pinned():
    """Pages of which a socket holds one byte each."""
    all_files()
    pages = 0
    while pages < 1024 * MIB // 4096:
        a, b = socket.socketpair()
        kept.append((a, b))
        a.setblocking(False)
        r, w = os.pipe2(os.O_DIRECT)  # each write has a page of its own
        try:
            while True:
                for _ in range(16):
                    os.write(w, b"x")
                pages += os.splice(r, a.fileno(), 16)
        except BlockingIOError:
            pass
        os.close(r), os.close(w)
        print("pinned took", pages * 4096 // MIB, flush=True)


def deep():
    """A chain of processes longer than anybody recurses, each with memory."""
    for depth in range(400):
        if os.fork():
            os.wait()
            os._exit(0)
        if depth > 300:
            m = mmap.mmap(-1, 8 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for at in range(0, 8 * MIB, 4096):
                m[at] = 1
            kept.append(m)
            print("deep took", (depth - 300) * 8, flush=True)
    time.sleep(600)


def cow():
    """Processes that share what they were forked with, until each writes to all of it."""
    m = mmap.mmap(-1, 96 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, 96 * MIB, 4096):
        m[at] = 1
    done = os.pipe()
    ends = [os.pipe() for _ in range(10)]
    for r, _ in ends:
        if os.fork() == 0:
            os.read(r, 1)
            for at in range(0, 96 * MIB, 4096):
                m[at] = 2
            os.write(done[1], b"x")
            time.sleep(600)
    time.sleep(3)  # a few looks
    for n, (_, w) in enumerate(ends):
        os.write(w, b"x")
        os.read(done[0], 1)
        print("cow took", (n + 2) * 96, flush=True)


def headless():
    """Memory of a process whose first thread is gone."""
    import threading

    def rest():
        for n in range(64):
            m = mmap.mmap(-1, 16 * MIB, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
            for at in range(0, 16 * MIB, 4096):
                m[at] = 1
            kept.append(m)
            print("headless took", (n + 1) * 16, flush=True)
        time.sleep(600)

    threading.Thread(target=rest).start()
    libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit of this thread alone


def fallocate():
    fd = os.open("filled", os.O_RDWR | os.O_CREAT)
    try:
        if libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(200 * MIB)) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        say("fallocate", 200, " MiB at once")
    except OSError as e:
        print("fallocate refused:", e, flush=True)


def disk():
    n = 0
    for i in range(60):
        with open(f"big{i}", "wb") as f:
            for _ in range(10):
                f.write(b"x" * MIB)
                n += 1
        print("disk took", n, flush=True)


def unnamed():
    """Files that have no name any more."""
    n = 0
    for i in range(60):
        f = open(f"gone{i}", "wb")
        os.unlink(f"gone{i}")
        kept.append(f)
        for _ in range(10):
            f.write(b"x" * MIB)
            n += 1
        print("unnamed took", n, flush=True)


def log():
    """Calls that are refused, and therefore recorded."""
    end = time.monotonic() + 20
    n = 0
    while time.monotonic() < end:
        libc.syscall(165, 0, 0, 0, n, 0)  # mount
        n += 1
        if n % 10000 == 0:
            print("log took", n, flush=True)


modes = {f.__name__: f for f in (
    instances, watches, flying, nested, pipes, fifos, parkedpipes, bigpipes, descriptors, slow, linger, lease, pid1, memfd, parked, mapped, shm, sockets, pinned, deep, cow, headless,
    fallocate, disk, unnamed, ghost, parkedfiles, nestedfiles, waitingfiles, blockedfiles, emptymessages, netlink, messages, log)}
alone = {f.__name__: f for f in (shutfiles, shutmemfd)}  # these become another program


def hold(seconds):
    time.sleep(seconds)


def everything(seconds):
    end = time.monotonic() + seconds
    running = {}
    while time.monotonic() < end:
        for name in modes:
            if name not in running:
                pid = os.fork()
                if pid == 0:
                    try:
                        # Said first: the box may be ended for another one's sake before this has taken anything.
                        print(name, "begins", flush=True)
                        modes[name]()
                        hold(2)
                    except BaseException as e:
                        print(name, "ended:", e, flush=True)
                    os._exit(0)
                running[name] = pid
        time.sleep(0.1)
        for name, pid in list(running.items()):
            if os.waitpid(pid, os.WNOHANG)[0]:
                del running[name]


seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30
if sys.argv[1] == "all":
    everything(seconds)
else:
    (modes.get(sys.argv[1]) or alone[sys.argv[1]])()
    hold(seconds)
