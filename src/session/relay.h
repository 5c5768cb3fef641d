/* relay.h - the role that carries bytes between ports of the host and servers in the box.
 *
 * Forked by the supervisor when the first port is published. It accepts on sockets it is given,
 * asks the supervisor for a connection to the box for each, and copies. It parses nothing, can make
 * no socket, and knows no address: where a connection goes is the supervisor's word to pid 1. */
#ifndef SESSION_RELAY_H
#define SESSION_RELAY_H

/* Between supervisor and relay, on one SEQPACKET socket. */
enum relay_msg {
        /* supervisor -> relay */
        RELAY_LISTEN = 1, /* u32 listener; + its listening socket */
        RELAY_CLOSE,      /* u32 listener: and every connection that came by it */
        RELAY_GOT,        /* u32 connection, u32 errno or 0; + the socket in the box */
        /* relay -> supervisor */
        RELAY_WANT, /* u32 connection, u32 listener it came by */
};

/* At most so many connections that the box has not answered yet: as many frames fit the sockets
 * between us without anybody waiting. */
enum { RELAY_PENDING_MAX = 64, RELAY_CONNS_MAX = 1024, RELAY_LISTENERS_MAX = 64 };

/* relay_main(control_fd): runs in the forked child, never returns. */
_Noreturn void relay_main(int control_fd);

#endif
