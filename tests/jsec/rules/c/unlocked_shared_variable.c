#include <pthread.h>

static int count, total, guarded, result;
static _Atomic int safe;
static pthread_mutex_t lock;

#ifdef LIBRARY_THREADS
#define level (*level_of_this_thread())
int *level_of_this_thread(void);
#else
extern int level;
#endif

static void *worker(void *unused) {
    int local = 0;
    level = 1; // ok
    local++; // ok
    count++; // expect: unlocked-shared-variable
    safe++; // ok
    pthread_mutex_lock(&lock);
    guarded++; // ok
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *single(void *unused) {
    total = total + 1; // expect: unlocked-shared-variable
    result = 5; // ok
    return unused;
}

static void *shadow(void *unused) {
    int count = 1;
    count++; // ok
    return unused;
}

int main(void) {
    pthread_t threads[4], one, two;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], 0, worker, 0) != 0)
            return 1;
    if (pthread_create(&one, 0, single, 0) != 0 || pthread_create(&two, 0, shadow, 0) != 0)
        return 1;
    int seen = total;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return seen + result;
}

static void *by_reference(void *given) {
    int *sum = (int *)given;
    *sum = *sum + 1; // expect: unlocked-shared-variable
    return 0;
}

static void *each_its_own(void *given) {
    int *sum = given;
    (*sum)++; // ok
    return 0;
}

static void *with_a_lock(void *given) {
    int *sum = given;
    pthread_mutex_lock(&lock);
    (*sum)++; // ok
    pthread_mutex_unlock(&lock);
    return 0;
}

int references(void) {
    pthread_t threads[6];
    int sum = 0, other = 0;
    pthread_create(&threads[0], 0, by_reference, (void *)&sum);
    pthread_create(&threads[1], 0, by_reference, (void *)&sum);
    pthread_create(&threads[2], 0, each_its_own, &sum);
    pthread_create(&threads[3], 0, each_its_own, &other);
    pthread_create(&threads[4], 0, with_a_lock, &sum);
    pthread_create(&threads[5], 0, with_a_lock, &sum);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], 0);
    return sum + other;
}

struct task { int done; };
struct task *next_task(void);

static void *of_a_loop(void *given) {
    struct task *task = given;
    task->done = 1; // ok
    return 0;
}

static void *alike_in_a_loop(void *given) {
    struct task *task = given;
    task->done = 1; // expect: unlocked-shared-variable
    return 0;
}

int loops(void) {
    pthread_t threads[8];
    struct task common = { 0 };
    for (int i = 0; i < 4; i++) {
        struct task *task = next_task();
        pthread_create(&threads[i], 0, of_a_loop, task);
        pthread_create(&threads[i + 4], 0, alike_in_a_loop, &common);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], 0);
    return common.done;
}

typedef struct job *job_handle;
typedef struct gate *gate_handle;
int launch(void (*work)(void *), void *given, job_handle *job);
int finish(job_handle job);
void close_gate(gate_handle gate);
void open_gate(gate_handle gate);
void visit(void (*each)(void *), void *given);

static int jobs_done, jobs_counted, visited;
static gate_handle gate;

static void wrapped(void *unused) {
    jobs_done = jobs_done + 1; // expect: unlocked-shared-variable
}

static void wrapped_with_a_lock(void *unused) {
    close_gate(gate);
    jobs_counted = jobs_counted + 1; // ok
    open_gate(gate);
}

static void no_thread(void *unused) {
    visited++; // ok
}

int wrappers(void) {
    job_handle one, two, three, four;
    launch(wrapped, 0, &one);
    launch(wrapped, 0, &two);
    launch(wrapped_with_a_lock, 0, &three);
    launch(wrapped_with_a_lock, 0, &four);
    visit(no_thread, 0);
    visit(no_thread, 0);
    finish(one);
    finish(two);
    finish(three);
    finish(four);
    return jobs_done;
}

struct job { pthread_t id; int result; };
static void *run_job(void *given) {
    struct job *job = given;
    job->result = 1; // ok
    return NULL;
}
struct job *start_job(int urgent) {
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        return NULL;
    if (urgent)
        pthread_create(&job->id, NULL, run_job, job);
    else
        pthread_create(&job->id, &lazy, run_job, job);
    return job;
}

struct rounds { pthread_barrier_t barrier; pthread_mutex_t mutex; sem_t done; int posted; };
static void *run_round(void *given) {
    struct rounds *rounds = given;
    rounds->posted = pthread_barrier_wait(&rounds->barrier); // ok
    return NULL;
}
void first_round(void) {
    struct rounds all = {0};
    pthread_t id;
    pthread_create(&id, NULL, run_round, &all);
    pthread_join(id, NULL);
}
void second_round(void) {
    struct rounds all = {0};
    pthread_t id;
    pthread_create(&id, NULL, run_round, &all);
    pthread_join(id, NULL);
}
static void *post_round(void *given) {
    struct rounds *rounds = given;
    pthread_mutex_lock(&rounds->mutex);
    sem_post(&rounds->done);
    rounds->posted = 1; // ok
    pthread_mutex_unlock(&rounds->mutex);
    return NULL;
}
void rounds_together(void) {
    struct rounds all = {0};
    pthread_t one, two;
    pthread_create(&one, NULL, post_round, &all);
    pthread_create(&two, NULL, post_round, &all);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

struct player { int last_frame; int wanted; };
static struct player player;
static int bit_rate;

static void *play_one(void *unused) {
    player.last_frame = 0; // ok
    player.wanted = -1; // expect: unlocked-shared-variable
    bit_rate = 128; // ok
    return unused;
}

static void *play_other(void *unused) {
    bit_rate = 64; // ok
    return unused;
}

void start_player(int kind) {
    pthread_t thread;
    bit_rate = 0;
    if (kind)
        pthread_create(&thread, NULL, play_one, NULL);
    else
        pthread_create(&thread, NULL, play_other, NULL);
    player.wanted = 3;
}
