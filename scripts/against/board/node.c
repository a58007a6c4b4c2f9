/* A load-test node: answers CQL requests at once, with frames that were recorded from a real one.
 *
 *     node ADDRESS TABLE SECONDS HOLD
 *
 * It prints its port. TABLE is what answers.py packs. A request is looked up by protocol version, opcode, whether it
 * wants no metadata, and its text or the id of its statement; the stream id of the answer is that of
 * the request, and bound values are copied to the places that the table names, so that a client sees
 * whether it got another request's answer. What is not in the table is answered with an error that
 * says so. With HOLD 1 no such request is answered: they stay in flight, and their number is
 * printed at the end.
 *
 * One thread, epoll, every answer of a read in one write. SIGTERM ends it; it ends itself after
 * SECONDS, and with the process that started it. Protocol v3 to v5; of segments (v5, section 2) it
 * writes the checksums, and does not check those of the client: loopback does not garble.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ERROR = 0x00, STARTUP = 0x01, QUERY = 0x07, PREPARE = 0x09, EXECUTE = 0x0A };
enum { HEADER = 9, LARGEST = 131071, SLOTS = 4096, SKIP_METADATA = 0x02, VALUES = 0x01 };

struct bytes { uint8_t *at; size_t size, room; };

/* An answer, and where values of the request go: `patches` pairs of an offset and an index. */
struct answer {
    uint8_t version, opcode, skip, reply, flags;
    uint32_t key_size, body_size, patches;
    const uint8_t *key, *body, *places;
};

/* A client: what it sent, what its segments held, what it is to get, and what it got of that. */
struct client {
    int fd, segmented, waiting;
    struct bytes raw, frames, plain, out;
    size_t sent;
};

static struct answer table[SLOTS];
static uint32_t crc[8][256];
static int hold;
static volatile sig_atomic_t held, stopped;

static void fail(const char *what) { perror(what); exit(2); }

static uint32_t number(const uint8_t *at, int size) {
    uint32_t found = 0;
    while (size--) found = found << 8 | *at++;
    return found;
}

static void add(struct bytes *to, const void *from, size_t size) {
    if (to->size + size > to->room) {
        to->room = (to->size + size) * 2;
        to->at = realloc(to->at, to->room);
        if (!to->at) fail("memory");
    }
    if (from) memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void drop(struct bytes *from, size_t size) {
    memmove(from->at, from->at + size, from->size - size);
    from->size -= size;
}

/* --- the table ------------------------------------------------------------------------------- */

static struct answer *slot(int version, int opcode, int skip, const uint8_t *key, uint32_t size) {
    uint32_t hash = 2166136261u ^ (uint32_t)(version << 16 | opcode << 8 | skip);
    for (uint32_t i = 0; i < size; i++) hash = (hash ^ key[i]) * 16777619u;
    struct answer *at;
    while ((at = &table[hash++ % SLOTS])->version) {
        if (at->version == version && at->opcode == opcode && at->skip == skip &&
            at->key_size == size && !memcmp(at->key, key, size)) break;
    }
    return at;
}

static void load(const char *path) {
    struct bytes all = {0};
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    for (size_t got = 1; got;) {
        add(&all, NULL, 65536);
        all.size -= 65536;
        all.size += got = fread(all.at + all.size, 1, 65536, file);
    }
    fclose(file);
    for (const uint8_t *at = all.at; at < all.at + all.size;) {
        struct answer one = {at[0], at[1], at[2], at[3], at[4], number(at + 5, 4),
                             number(at + 9, 4), number(at + 13, 4), at + 17, NULL, NULL};
        one.body = one.key + one.key_size;
        one.places = one.body + one.body_size;
        at = one.places + one.patches * 5;
        *slot(one.version, one.opcode, one.skip, one.key, one.key_size) = one;
    }
}

/* --- answers --------------------------------------------------------------------------------- */

static void put(struct bytes *to, int version, int flags, const uint8_t *stream, int opcode,
                const void *body, uint32_t size) {
    uint8_t header[HEADER] = {version | 0x80, flags, stream[0], stream[1], opcode,
                              size >> 24, size >> 16, size >> 8, size};
    add(to, header, HEADER);
    add(to, body, size);
}

static void refuse(struct bytes *to, int version, const uint8_t *stream, uint32_t code,
                   const char *text, const uint8_t *about, uint32_t size) {
    uint8_t body[512] = {0, 0, code >> 8, code};
    if (size > 300) size = 300;
    int length = snprintf((char *)body + 6, sizeof body - 6, "%s%.*s", text, (int)size,
                          (const char *)about);
    body[4] = length >> 8;
    body[5] = length;
    put(to, version, 0, stream, ERROR, body, 6 + length);
}

/* Copy the values that an EXECUTE binds to their places in its answer. */
static void patch(uint8_t *body, const struct answer *answer, const uint8_t *values,
                  const uint8_t *end) {
    const uint8_t *found[16] = {0};
    uint32_t count = number(values, 2);
    values += 2;
    for (uint32_t i = 0; i < count && i < 16 && values + 4 <= end; i++) {
        found[i] = values;
        int32_t size = (int32_t)number(values, 4);
        values += 4 + (size > 0 ? size : 0);
    }
    for (uint32_t i = 0; i < answer->patches; i++) {
        const uint8_t *place = answer->places + i * 5, *value = found[place[4] & 15];
        if (value) memcpy(body + number(place, 4), value + 4, number(value, 4));
    }
}

/* Answer the frame at `at`, whose body is whole. */
static void respond(struct client *client, const uint8_t *at) {
    int version = at[0], opcode = at[4], skip = 0;
    const uint8_t *body = at + HEADER, *end = body + number(at + 5, 4), *key = body, *rest = NULL;
    uint32_t size = 0;
    if (version < 3 || version > 5) {
        refuse(&client->plain, 5, at + 2, 0x0A,
               "Invalid or unsupported protocol version; supported versions are (3/v3, 4/v4, 5/v5)",
               key, 0);
        return;
    }
    if (opcode == QUERY || opcode == PREPARE) {
        size = number(body, 4);
        key = body + 4;
    } else if (opcode == EXECUTE) {
        size = number(body, 2);
        key = body + 2;
        rest = key + size;
        if (version == 5) rest += 2 + number(rest, 2);  /* the id of the metadata */
        rest += 2;                                      /* consistency */
        uint32_t flags = version == 5 ? number(rest, 4) : rest[0];
        skip = flags & SKIP_METADATA ? 1 : 0;
        rest = flags & VALUES ? rest + (version == 5 ? 4 : 1) : NULL;
    }
    struct answer *found = slot(version, opcode, skip, key, size);
    if (!found->version && skip) found = slot(version, opcode, 0, key, size);
    if (!found->version) {
        refuse(&client->plain, version, at + 2, 0x2200, "not recorded: ", key, size);
        return;
    }
    if (hold && found->patches) {
        held++;
        return;
    }
    size_t start = client->plain.size + HEADER;
    put(&client->plain, version, found->flags, at + 2, found->reply, found->body, found->body_size);
    if (rest && found->patches) patch(client->plain.at + start, found, rest, end);
}

/* Answer the whole frames of a buffer; true at a STARTUP of v5: what follows it is in segments. */
static int respond_all(struct client *client, struct bytes *frames) {
    size_t at = 0;
    int started = 0;
    while (!started && frames->size - at >= HEADER) {
        const uint8_t *frame = frames->at + at;
        size_t size = HEADER + number(frame + 5, 4);
        if (frames->size - at < size) break;
        respond(client, frame);
        started = frame[0] == 5 && frame[4] == STARTUP;
        at += size;
    }
    drop(frames, at);
    return started;
}

/* --- segments -------------------------------------------------------------------------------- */

static void tabulate(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
        crc[0][i] = value;
    }
    for (int n = 1; n < 8; n++)
        for (int i = 0; i < 256; i++)
            crc[n][i] = crc[n - 1][i] >> 8 ^ crc[0][crc[n - 1][i] & 255];
}

/* CRC-32 of a payload, begun with four bytes (section 2.2), eight bytes a step. */
static uint32_t crc32(const uint8_t *at, size_t size) {
    static const uint8_t start[] = {0xFA, 0x2D, 0x55, 0xCA};
    uint32_t value = 0xFFFFFFFFu;
    for (int i = 0; i < 4; i++) value = value >> 8 ^ crc[0][(value ^ start[i]) & 255];
    for (; size >= 8; at += 8, size -= 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= value;
        value = crc[7][low & 255] ^ crc[6][low >> 8 & 255] ^ crc[5][low >> 16 & 255] ^
                crc[4][low >> 24] ^ crc[3][high & 255] ^ crc[2][high >> 8 & 255] ^
                crc[1][high >> 16 & 255] ^ crc[0][high >> 24];
    }
    while (size--) value = value >> 8 ^ crc[0][(value ^ *at++) & 255];
    return ~value;
}

static uint32_t crc24(uint32_t header) {
    uint32_t value = 0x875060;
    for (int byte = 0; byte < 3; byte++) {
        value ^= (header >> 8 * byte & 255) << 16;
        for (int bit = 0; bit < 8; bit++) {
            value <<= 1;
            if (value & 0x1000000) value ^= 0x1974F0B;
        }
    }
    return value;
}

static void segment(struct bytes *to, const uint8_t *at, uint32_t size, int whole) {
    uint32_t head = size | (uint32_t)whole << 17, check = crc24(head), tail = crc32(at, size);
    uint8_t header[] = {head, head >> 8, head >> 16, check, check >> 8, check >> 16};
    uint8_t trailer[] = {tail, tail >> 8, tail >> 16, tail >> 24};
    add(to, header, 6);
    add(to, at, size);
    add(to, trailer, 4);
}

/* Put answers into segments: as many whole ones as fit into each; one that fits into none, alone. */
static void wrap(struct client *client) {
    const uint8_t *at = client->plain.at, *end = at + client->plain.size;
    while (at < end) {
        size_t whole = 0, next = 0;
        while (at + whole < end &&
               whole + (next = HEADER + number(at + whole + 5, 4)) <= LARGEST) whole += next;
        size_t size = whole ? whole : next;
        for (size_t done = 0; done < size; done += LARGEST)
            segment(&client->out, at + done, size - done < LARGEST ? size - done : LARGEST, whole > 0);
        at += size;
    }
}

static void unwrap(struct client *client) {
    size_t at = 0;
    while (client->raw.size - at >= 6) {
        const uint8_t *header = client->raw.at + at;
        size_t size = (header[0] | header[1] << 8 | header[2] << 16) & LARGEST;
        if (client->raw.size - at < size + 10) break;
        add(&client->frames, header + 6, size);
        at += size + 10;
    }
    drop(&client->raw, at);
}

/* --- sockets --------------------------------------------------------------------------------- */

static void part(int poll, struct client *client) {
    epoll_ctl(poll, EPOLL_CTL_DEL, client->fd, NULL);
    close(client->fd);
    free(client->raw.at), free(client->frames.at), free(client->plain.at), free(client->out.at);
    free(client);
}

/* Send what is waiting; false if the client has gone. */
static int send_out(int poll, struct client *client) {
    while (client->sent < client->out.size) {
        ssize_t sent = send(client->fd, client->out.at + client->sent,
                            client->out.size - client->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return 0;
        if (sent < 0) break;
        client->sent += sent;
    }
    int waiting = client->sent < client->out.size;
    if (!waiting) client->out.size = client->sent = 0;
    if (waiting != client->waiting) {
        struct epoll_event event = {EPOLLIN | (waiting ? EPOLLOUT : 0), {.ptr = client}};
        epoll_ctl(poll, EPOLL_CTL_MOD, client->fd, &event);
        client->waiting = waiting;
    }
    return 1;
}

/* Read what is there and answer it; false if the client has gone. */
static int serve(int poll, struct client *client) {
    enum { ONCE = 1 << 18 };
    add(&client->raw, NULL, ONCE);
    client->raw.size -= ONCE;
    ssize_t got = recv(client->fd, client->raw.at + client->raw.size, ONCE, 0);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    client->raw.size += got;
    if (!client->segmented && respond_all(client, &client->raw)) {
        add(&client->out, client->plain.at, client->plain.size);
        client->plain.size = 0;
        client->segmented = 1;
    }
    if (client->segmented) {
        unwrap(client);
        respond_all(client, &client->frames);
        wrap(client);
    } else {
        add(&client->out, client->plain.at, client->plain.size);
    }
    client->plain.size = 0;
    return send_out(poll, client);
}

static void stop(int signal) { stopped = signal; }

/* Listen at a port that the system chooses, and say which. */
static int listen_at(const char *address) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1 || (ntohl(at.sin_addr.s_addr) >> 24) != 127) {
        fprintf(stderr, "node: %s is no loopback address\n", address);
        exit(2);
    }
    if (bind(fd, (struct sockaddr *)&at, size) || listen(fd, 128) ||
        getsockname(fd, (struct sockaddr *)&at, &size)) fail("node");
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "node ADDRESS TABLE SECONDS HOLD\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    tabulate();
    load(words[2]);
    hold = atoi(words[4]);
    int door = listen_at(words[1]), poll = epoll_create1(EPOLL_CLOEXEC);
    signal(SIGTERM, stop);
    signal(SIGALRM, stop);
    alarm(atoi(words[3]));
    struct epoll_event event = {EPOLLIN, {.ptr = NULL}}, found[64];
    epoll_ctl(poll, EPOLL_CTL_ADD, door, &event);
    /* A signal between the test and the wait is seen a second later. */
    while (!stopped) {
        int ready = epoll_wait(poll, found, 64, 1000);
        for (int i = 0; i < ready; i++) {
            struct client *client = found[i].data.ptr;
            if (client) {
                int there = found[i].events & EPOLLOUT ? send_out(poll, client) : 1;
                if (there && found[i].events & ~EPOLLOUT) there = serve(poll, client);
                if (!there) part(poll, client);
                continue;
            }
            int fd = accept4(door, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
            if (fd < 0) continue;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            event.events = EPOLLIN;
            event.data.ptr = client = calloc(1, sizeof *client);
            if (!client) fail("memory");
            client->fd = fd;
            epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
        }
    }
    printf("%d\n", (int)held);
    return stopped == SIGTERM ? 0 : 3;
}
