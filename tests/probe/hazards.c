/* SPDX-License-Identifier: Apache-2.0 */
/* What programs do that a preloaded library may break: one hazard a function, run by its name.
 * Each prints what it saw; with the probe it must print the same. Say nothing that differs from
 * run to run (no pids, no addresses). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void print_environment(void) {
  for (char** entry = environ; *entry != NULL; ++entry)
    if (strncmp(*entry, "_=", 2) != 0) puts(*entry);
}

static int waited(void) {
  int status = 0;
  const pid_t pid = wait(&status);
  printf("waited %d status %x errno %d\n", pid > 0, status, pid > 0 ? 0 : errno);
  return status;
}

static void run_fork(void) {
  char* kept = malloc(100000);
  strcpy(kept, "kept");
  fflush(stdout);
  for (int i = 0; i < 3; ++i) {
    if (fork() == 0) {
      char* more = malloc(5000);
      strcpy(more, kept);
      printf("child %d %s\n", i, more);
      fflush(stdout);
      if (i == 1) raise(SIGKILL);
      if (fork() == 0) _exit(7);
      waited();
      exit(i);
    }
    waited();
  }
  waited(); /* ECHILD */
}

static void run_vfork(void) {
  char* const arguments[] = {"sh", "-c", "echo vfork; exit 5", NULL};
  if (vfork() == 0) {
    execv("/bin/sh", arguments);
    _exit(9);
  }
  waited();
  if (vfork() == 0) {
    execv("/does/not/exist", arguments);
    _exit(errno);
  }
  waited();
  printf("%d\n", (int)strlen(strdup("memory still works")));
}

static void run_exec_family(void) {
  char* const arguments[] = {"sh", "-c", "env | grep -v ^_= | sort; exit 3", NULL};
  char* const some[] = {"A=1", "LD_PRELOAD=", "B=two", "PATH=/bin:/usr/bin", NULL};
  char* const none[] = {NULL};
  for (int way = 0; way < 11; ++way) {
    printf("way %d\n", way);
    fflush(stdout);
    if (fork() == 0) {
      if (way == 0) execve("/bin/sh", arguments, some);
      if (way == 1) execve("/bin/sh", arguments, none);
      if (way == 2) execve("/bin/sh", arguments, NULL);
      if (way == 3) execl("/bin/sh", "sh", "-c", "env | grep -v ^_= | sort", (char*)NULL);
      if (way == 4) execlp("sh", "sh", "-c", "env | grep -v ^_= | sort", (char*)NULL);
      if (way == 5) execle("/bin/sh", "sh", "-c", "env | grep -v ^_=", (char*)NULL, some);
      if (way == 6) execvp("sh", arguments);
      if (way == 7) execvpe("sh", arguments, some);
      if (way == 8) fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), arguments, some);
      if (way == 9) execvp("no-such-program", arguments);
      if (way == 10) execveat(AT_FDCWD, "/bin/sh", arguments, some, 0);
      printf("failed %d\n", errno);
      exit(44);
    }
    waited();
  }
}

static void run_clearenv(void) {
  clearenv();
  setenv("ONLY", "this", 1);
  fflush(stdout);
  if (system("env | grep -v -e ^_= -e ^PWD= -e ^SHLVL=") != 0) puts("failed");
  char* const arguments[] = {"env", NULL};
  execv("/usr/bin/env", arguments);
}

static void run_spawn(void) {
  char* const arguments[] = {"sh", "-c", "env | grep -v ^_=; exit 6", NULL};
  char* const some[] = {"A=1", "PATH=/bin:/usr/bin", NULL};
  pid_t pid;
  fflush(stdout);
  printf("%d\n", posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, some));
  fflush(stdout);
  waited();
  printf("%d\n", posix_spawnp(&pid, "sh", NULL, NULL, arguments, some));
  fflush(stdout);
  waited();
  printf("%d\n", posix_spawnp(&pid, "no-such-program", NULL, NULL, arguments, some));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, 0);
  printf("%d\n", posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, some));
  fflush(stdout);
  waited();
}

static void print_handler(int number) {
  struct sigaction action;
  sigaction(number, NULL, &action);
  printf("signal %d %s\n", number, action.sa_handler == SIG_DFL ? "default" : "other");
}

static void run_system(void) {
  printf("%d\n", system(NULL) != 0);
  const char* const commands[] = {"echo hello; exit 4", "kill -9 $$", "no-such-program 2>/dev/null",
                                  "", "env | grep -v ^_= | sort"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    fflush(stdout);
    const int status = system(commands[i]);
    printf("status %x\n", (unsigned)status);
  }
  print_handler(SIGINT);
  print_handler(SIGQUIT);
  print_handler(SIGCHLD);
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  printf("SIGCHLD blocked %d\n", sigismember(&blocked, SIGCHLD));
  signal(SIGCHLD, SIG_IGN);
  fflush(stdout);
  printf("ignored children: %d", system("true"));
  printf(" errno %d\n", errno);
  signal(SIGCHLD, SIG_DFL);
  print_environment();
}

static void run_popen(void) {
  char line[4096];
  for (int i = 0; i < 3; ++i) {
    FILE* stream = popen("env | grep -v ^_= | sort; exit 3", "r");
    while (fgets(line, sizeof line, stream) != NULL) fputs(line, stdout);
    printf("%x\n", (unsigned)pclose(stream));
    setenv("GROWS", i == 0 ? "a" : "a longer one", 1);
  }
  fflush(stdout);
  FILE* stream = popen("cat", "w");
  fputs("to cat\n", stream);
  printf("%x\n", (unsigned)pclose(stream));
  print_environment();
}

static void run_many_descriptors(void) {
  for (int i = 3; i < 1024; ++i) close(i);
  const int file = open("/dev/null", O_RDONLY);
  printf("%d\n", file);
  struct rlimit limit = {4, 4};
  setrlimit(RLIMIT_NOFILE, &limit);
  printf("%d\n", open("/dev/null", O_RDONLY));
  printf("%s\n", strdup("still here"));
}

static __thread char storage[4096];
static void* storm(void* argument) {
  for (int i = 0; i < 200; ++i) {
    storage[i] = 1;
    void* piece = malloc((size_t)(i * 37 % 9000));
    piece = realloc(piece, (size_t)(i * 91 % 70000 + 1));
    free(piece);
  }
  return argument;
}

static void run_threads(void) {
  for (int turn = 0; turn < 50; ++turn) {
    pthread_t threads[16];
    for (int i = 0; i < 16; ++i) pthread_create(&threads[i], NULL, storm, NULL);
    for (int i = 0; i < 16; ++i) pthread_join(threads[i], NULL);
  }
  puts("threads ended");
}

static void* sleeper(void* argument) {
  char byte;
  const ssize_t count = read(*(int*)argument, &byte, 1);
  return (void*)(count + 1);
}

static void run_cancel(void) {
  int pipes[2];
  if (pipe(pipes) != 0) return;
  pthread_t thread;
  pthread_create(&thread, NULL, sleeper, &pipes[0]);
  usleep(20000);
  pthread_cancel(thread);
  void* result;
  pthread_join(thread, &result);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

static volatile sig_atomic_t ticks;
static void on_tick(int number) {
  const int saved = errno;
  if (++ticks % 50 == 0 && write(1, "tick\n", 5) != 5) _exit(1);
  (void)number;
  errno = saved;
}

static void run_handlers(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (ticks < 200) free(malloc((size_t)(ticks + 1) * 100));
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  puts("handled");
}

static void run_errno(void) {
  volatile size_t most = (size_t)-1 / 2;
  errno = 77;
  free(malloc(10));
  printf("%d ", errno);
  printf("%zd ", write(-1, "x", 1));
  printf("%d ", errno);
  printf("%p ", malloc(most));
  printf("%d ", errno);
  errno = 0;
  printf("%p ", calloc(most, 4));
  printf("%d ", errno);
  void* aligned = NULL;
  printf("%d ", posix_memalign(&aligned, 3, 10));
  printf("%d ", posix_memalign(&aligned, 4096, 10));
  printf("%d ", ((size_t)aligned & 4095) == 0);
  printf("%p\n", reallocarray(NULL, most, 4));
}

static void run_closed_stdout(void) {
  close(1);
  const int printed = puts("nobody hears");
  const int flushed = fflush(stdout);
  fprintf(stderr, "%d %d %d\n", printed, flushed, errno);
  exit(printed < 0 || flushed < 0 ? 2 : 0);
}

static void run_dlopen(void) {
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
    printf("%.1f\n", root(16));
    dlclose(library);
  }
  printf("%d\n", dlopen("libdoes-not-exist.so", RTLD_NOW) == NULL);
  void* (*next)(size_t) = (void* (*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
  void* block = next(100);
  free(block);
}

static void run_unshare(void) { printf("%d\n", unshare(CLONE_NEWUSER)); }

static void run_descriptors(void) {
  for (int file = 0; file < 1024; ++file)
    if (fcntl(file, F_GETFD) >= 0) printf("%d ", file);
  puts("are open");
}

static void run_getters(void) {
  printf("%s %s\n", getenv("LD_PRELOAD") == NULL ? "no" : getenv("LD_PRELOAD"),
         getenv("LOWTIDE_RUN") == NULL ? "no" : "yes");
  print_environment();
}

static void run_seccomp(void) {
  fflush(stdout);
  if (fork() == 0) {
    void* block = malloc(100);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(1);
    free(block);
    if (write(1, "in the sandbox\n", 15) == 15) syscall(SYS_exit, 3);
  }
  waited();
}

static int run_children_once(void* argument) {
  (void)argument;
  _exit(11);
}

static void run_clone(void) {
  char* stack = malloc(65536);
  const int flags[] = {SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};
  for (int i = 0; i < 2; ++i) {
    clone(run_children_once, stack + 65536, flags[i], NULL);
    waited();
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} kHazards[] = {
    {"fork", run_fork},
    {"vfork", run_vfork},
    {"exec", run_exec_family},
    {"clearenv", run_clearenv},
    {"spawn", run_spawn},
    {"system", run_system},
    {"popen", run_popen},
    {"closefrom", run_many_descriptors},
    {"threads", run_threads},
    {"cancel", run_cancel},
    {"handlers", run_handlers},
    {"errno", run_errno},
    {"closed-stdout", run_closed_stdout},
    {"dlopen", run_dlopen},
    {"unshare", run_unshare},
    {"descriptors", run_descriptors},
    {"environment", run_getters},
    {"clone", run_clone},
    {"seccomp", run_seccomp},
};

int main(int count, char** words) {
  for (size_t i = 0; i < sizeof kHazards / sizeof *kHazards; ++i) {
    if (count < 2) puts(kHazards[i].name);
    if (count < 2 || strcmp(kHazards[i].name, words[1]) != 0) continue;
    kHazards[i].run();
    return 0;
  }
  return count < 2 ? 0 : 99;
}
