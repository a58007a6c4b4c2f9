"""System calls on a connected socket, none of which waits but ``driver_wait``."""

cdef extern from *:
    """
    #include <errno.h>
    #ifdef _WIN32  /* where Python's own calls are made */
    #define DRIVER_CALLS 0
    #define driver_recv(fd, buffer, room) ((Py_ssize_t)-1)
    #define driver_send(fd, data, size) ((Py_ssize_t)-1)
    #else
    #define DRIVER_CALLS 1
    #include <sys/socket.h>
    #ifndef MSG_NOSIGNAL  /* macOS: Python ignores SIGPIPE */
    #define MSG_NOSIGNAL 0
    #endif
    #define driver_recv(fd, buffer, room) ((Py_ssize_t)recv(fd, buffer, room, MSG_DONTWAIT))
    #define driver_send(fd, data, size) \\
        ((Py_ssize_t)send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL))
    #endif
    #define driver_would_wait() (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)

    #ifdef __linux__
    #include <poll.h>
    #include <sys/epoll.h>
    static int driver_listen(int set, int fd, int listens) {
        struct epoll_event event = {.events = listens ? EPOLLIN : 0, .data.fd = fd};
        return epoll_ctl(set, EPOLL_CTL_MOD, fd, &event);
    }
    static int driver_wait(int fd, double seconds) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        struct timespec limit = {.tv_sec = (time_t)seconds};
        limit.tv_nsec = (long)((seconds - limit.tv_sec) * 1e9);
        int found = ppoll(&one, 1, &limit, NULL);
        return found < 0 && errno == EINTR ? 0 : found;
    }
    #else  /* where reading is never taken over */
    #define driver_listen(set, fd, listens) (-1)
    #define driver_wait(fd, seconds) (-1)
    #endif
    """
    const bint DRIVER_CALLS
    Py_ssize_t driver_recv(int fd, char *buffer, size_t room) nogil
    Py_ssize_t driver_send(int fd, const char *data, size_t size) nogil
    #: Whether the last call that failed may succeed later.
    bint driver_would_wait() nogil
    int driver_errno "errno"
    int driver_listen(int set, int fd, bint listens)
    #: 1 if there is something to read, 0 if not in time or if a signal came, -1 for an error.
    int driver_wait(int fd, double seconds) nogil
