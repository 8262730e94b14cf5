#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/rundir.h"
#include "test/unit/cli/world.h"
#include "test/unit/unit.h"

static struct world w;
static struct sr_error err;
static char base[] = "/tmp/sr-rundir-XXXXXX";
static char path[200];

static const char *below(const char *name)
{
    (void)snprintf(path, sizeof(path), "%s/%s", base, name);
    return path;
}

static void start(void)
{
    world_open(&w);
    memset(&err, 0, sizeof(err));
    strcpy(base, "/tmp/sr-rundir-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
}

static void end(const char *const *files)
{
    for (; *files; files++) {
        (void)unlink(below(*files)); /* may be gone */
        (void)rmdir(below(*files));  /* or a directory */
    }
    ck_assert_int_eq(rmdir(base), 0);
    world_close(&w);
}

#define END(...) end((const char *const[]){__VA_ARGS__, NULL})

/* The directory is made for its owner alone, and found again as it is. */
START_TEST(made_for_the_owner)
{
    start();
    const char *dir = NULL;
    struct stat st;
    const char *want = arena_text(w.cli.arena, below("run"));
    ck_assert_int_eq(rundir_open(&w.cli, want, &dir, &err), SR_OK);
    ck_assert_str_eq(dir, want);
    ck_assert_int_eq(stat(dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0700);
    ck_assert_int_eq(rundir_open(&w.cli, want, &dir, &err), SR_OK);
    END("run");
}
END_TEST

/* What is written on the command line comes before the environment. */
START_TEST(set_before_environment)
{
    start();
    const char *dir = NULL;
    ck_assert_int_eq(setenv("STREAMRUN_RUN_DIR", below("env"), 1), 0);
    ck_assert_int_eq(rundir_open(&w.cli, NULL, &dir, &err), SR_OK);
    ck_assert_str_eq(dir, below("env"));
    const char *set = arena_text(w.cli.arena, below("set"));
    ck_assert_int_eq(rundir_open(&w.cli, set, &dir, &err), SR_OK);
    ck_assert_str_eq(dir, set);
    END("env", "set");
}
END_TEST

/* A directory that others may write, a link and a file are refused: somebody else could listen. */
START_TEST(not_ones_own)
{
    start();
    const char *dir = NULL;
    const char *open_to_all = arena_text(w.cli.arena, below("all"));
    ck_assert_int_eq(mkdir(open_to_all, 0700), 0);
    ck_assert_int_eq(chmod(open_to_all, 0722), 0);
    ck_assert_int_eq(rundir_open(&w.cli, open_to_all, &dir, &err), SR_EACCESS);
    ck_assert_ptr_nonnull(strstr(err.words, "not yours alone"));
    ck_assert_int_eq(chmod(open_to_all, 0700), 0);
    ck_assert_int_eq(symlink(open_to_all, below("link")), 0);
    ck_assert_int_eq(rundir_open(&w.cli, below("link"), &dir, &err), SR_EACCESS);
    FILE *f = fopen(below("file"), "w");
    ck_assert_ptr_nonnull(f);
    (void)fclose(f); /* empty */
    ck_assert_int_eq(rundir_open(&w.cli, below("file"), &dir, &err), SR_EACCESS);
    ck_assert_ptr_null(dir);
    END("link", "file", "all");
}
END_TEST

/* One job of an id listens at a time; when it stops listening, nobody is there. */
START_TEST(one_listener)
{
    start();
    int fd = -1, other = -1;
    ck_assert_int_eq(rundir_connect(&w.cli, base, "j1", &other, &err), SR_EABSENT);
    ck_assert_int_eq(rundir_listen(&w.cli, base, "j1", &fd, &err), SR_OK);
    ck_assert_int_eq(rundir_connect(&w.cli, base, "j1", &other, &err), SR_OK);
    (void)close(other); /* a socket */
    other = -1;
    ck_assert_int_eq(rundir_listen(&w.cli, base, "j1", &other, &err), SR_EBUSY);
    ck_assert_int_eq(other, -1);
    const char *const *ids = rundir_ids(&w.cli, base);
    ck_assert_str_eq(ids[0], "j1");
    ck_assert_ptr_null(ids[1]);
    (void)close(fd); /* a socket */
    rundir_forget(&w.cli, base, "j1");
    ck_assert_ptr_null(rundir_ids(&w.cli, base)[0]);
    ck_assert_int_eq(rundir_connect(&w.cli, base, "j1", &other, &err), SR_EABSENT);
    END("j1.sock");
}
END_TEST

/* The socket of a run that was killed is in nobody's way. */
START_TEST(a_socket_left_behind)
{
    start();
    int fd = -1, other = -1;
    ck_assert_int_eq(rundir_listen(&w.cli, base, "j1", &fd, &err), SR_OK);
    (void)close(fd); /* as the kernel does when a process dies: the file stays */
    ck_assert_int_eq(access(below("j1.sock"), F_OK), 0);
    ck_assert_int_eq(rundir_connect(&w.cli, base, "j1", &other, &err), SR_EABSENT);
    ck_assert_int_eq(rundir_listen(&w.cli, base, "j1", &fd, &err), SR_OK);
    ck_assert_int_eq(rundir_connect(&w.cli, base, "j1", &other, &err), SR_OK);
    (void)close(other); /* a socket */
    (void)close(fd);    /* a socket */
    END("j1.sock");
}
END_TEST

/* A path that no socket can have is a fault with words, not one that is cut. */
START_TEST(too_long_a_path)
{
    start();
    char longer[160];
    int fd = -1;
    memset(longer, 'x', sizeof(longer));
    longer[0] = '/';
    longer[sizeof(longer) - 1] = '\0';
    ck_assert_int_eq(rundir_listen(&w.cli, longer, "j1", &fd, &err), SR_ECONFIG);
    ck_assert_ptr_nonnull(strstr(err.words, "too long a path for a socket"));
    ck_assert_int_eq(fd, -1);
    ck_assert_ptr_null(rundir_ids(&w.cli, longer)[0]); /* and a list of it is empty */
    END("none");
}
END_TEST

UNIT_MAIN("rundir", made_for_the_owner, set_before_environment, not_ones_own, one_listener,
          a_socket_left_behind, too_long_a_path)
