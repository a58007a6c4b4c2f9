/* What handing the interpreter's lock from thread to thread takes, and nothing else.

   As many threads as asked for take turns: each sleeps until it is woken, takes the lock as CPython
   does (a flag under a mutex, a condition to wait for it), wakes the next one, works for so many
   microseconds, and gives the lock back. That is what threads do that wait for answers over one
   connection. Prints elapsed and processor time in microseconds, and voluntary switches, of a turn:

       cc -O2 -pthread scripts/against/hand_over.c -o hand_over
       ./hand_over THREADS MICROSECONDS TURNS; taskset -c 0 ./hand_over THREADS MICROSECONDS TURNS
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_free = PTHREAD_COND_INITIALIZER;
static int is_taken, threads, turns;
static double work;
static sem_t *woken;

static double microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void take_lock(void) {
    pthread_mutex_lock(&mutex);
    while (is_taken) pthread_cond_wait(&is_free, &mutex);
    is_taken = 1;
    pthread_mutex_unlock(&mutex);
}

static void give_lock(void) {
    pthread_mutex_lock(&mutex);
    is_taken = 0;
    pthread_cond_signal(&is_free);
    pthread_mutex_unlock(&mutex);
}

static void *take_turns(void *number) {
    intptr_t mine = (intptr_t)number;
    for (int turn = 0; turn < turns; turn++) {
        sem_wait(&woken[mine]);
        take_lock();
        sem_post(&woken[(mine + 1) % threads]);
        double until = microseconds(CLOCK_MONOTONIC) + work;
        while (microseconds(CLOCK_MONOTONIC) < until);
        give_lock();
    }
    return NULL;
}

int main(int count, char **words) {
    struct rusage used;
    if (count != 4 || (threads = atoi(words[1])) < 1 || (turns = atoi(words[3]) / threads) < 1) {
        fprintf(stderr, "usage: hand_over THREADS MICROSECONDS TURNS\n");
        return 2;
    }
    work = atof(words[2]);
    woken = calloc(threads, sizeof *woken);
    pthread_t *all = calloc(threads, sizeof *all);
    for (intptr_t i = 0; i < threads; i++) sem_init(&woken[i], 0, 0);
    for (intptr_t i = 0; i < threads; i++) pthread_create(&all[i], NULL, take_turns, (void *)i);
    double elapsed = microseconds(CLOCK_MONOTONIC), busy = microseconds(CLOCK_PROCESS_CPUTIME_ID);
    sem_post(&woken[0]);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    elapsed = microseconds(CLOCK_MONOTONIC) - elapsed;
    busy = microseconds(CLOCK_PROCESS_CPUTIME_ID) - busy;
    getrusage(RUSAGE_SELF, &used);
    int all_turns = turns * threads;
    printf("{\"elapsed\": %.2f, \"processor\": %.2f, \"switches\": %.2f}\n",
           elapsed / all_turns, busy / all_turns, (double)used.ru_nvcsw / all_turns);
    return 0;
}
