/* Files as the engine sees them: a small vtable, so that a test can lend a disk that forgets.
 *
 * Paths are absolute. Every call that can fail fills err with the operation and the path. A failed
 * sync condemns the file: it is never retried. Calls may come from any thread; one file belongs to
 * one thread at a time.
 */
#ifndef STREAMRUN_FILES_H
#define STREAMRUN_FILES_H

#include <streamrun/error.h>

enum {
    SR_FILE_READ = 1u << 0,
    SR_FILE_WRITE = 1u << 1,  /* also readable */
    SR_FILE_CREATE = 1u << 2, /* made if absent, mode 0666 less the umask */
    SR_FILE_EXCLUSIVE =
        1u << 3, /* with CREATE: must be absent, else SR_EEXISTS; no link followed */
    SR_FILE_TRUNCATE = 1u << 4,
    SR_FILE_PRIVATE = 1u << 5 /* with CREATE: mode 0600 */
};

enum sr_file_kind { SR_FILE_REGULAR, SR_FILE_DIRECTORY, SR_FILE_OTHER };

struct sr_stat {
    enum sr_file_kind kind;
    uint64_t size_bytes;
    int64_t modified_us;
    uint64_t device, inode;
    uint32_t mode;        /* permission bits, 07777 */
    uint32_t user, group; /* owner */
};

#define SR_FILE_KEEP UINT32_MAX /* for set_access: leave it as it is */

struct sr_file; /* an open file */

struct sr_files {
    uint32_t size;
    void *ctx;
    sr_rc (*open)(const struct sr_files *fs, const char *path, uint32_t flags, struct sr_file **out,
                  struct sr_error *err);
    /* Reads up to `len` bytes at `at`; *got is 0 at the end of the file only. */
    sr_rc (*read)(struct sr_file *f, void *buf, size_t len, uint64_t at, size_t *got,
                  struct sr_error *err);
    /* Writes all `len` bytes at `at`, or fails. */
    sr_rc (*write)(struct sr_file *f, const void *buf, size_t len, uint64_t at,
                   struct sr_error *err);
    sr_rc (*truncate)(struct sr_file *f, uint64_t size_bytes, struct sr_error *err);
    sr_rc (*sync)(struct sr_file *f, struct sr_error *err);
    /* An open-file-description write lock over the whole file, without waiting: SR_EBUSY. */
    sr_rc (*lock)(struct sr_file *f, struct sr_error *err);
    sr_rc (*stat_file)(struct sr_file *f, struct sr_stat *out, struct sr_error *err);
    sr_rc (*close)(struct sr_file *f, struct sr_error *err); /* f may be NULL; frees it always */

    sr_rc (*stat)(const struct sr_files *fs, const char *path, struct sr_stat *out,
                  struct sr_error *err); /* follows links; SR_EABSENT */
    /* Names in a directory, without . and .., in byte order, as one array that ends with NULL. The
     * caller frees it by names_free. */
    sr_rc (*list)(const struct sr_files *fs, const char *dir, char ***names, struct sr_error *err);
    void (*names_free)(const struct sr_files *fs, char **names);
    sr_rc (*make_dir)(const struct sr_files *fs, const char *path, struct sr_error *err);
    sr_rc (*sync_dir)(const struct sr_files *fs, const char *path, struct sr_error *err);
    /* Fails with SR_EEXISTS instead of replacing when `may_replace` is false. */
    sr_rc (*rename)(const struct sr_files *fs, const char *from, const char *to, bool may_replace,
                    struct sr_error *err);
    sr_rc (*remove)(const struct sr_files *fs, const char *path, struct sr_error *err);
    sr_rc (*remove_dir)(const struct sr_files *fs, const char *path, struct sr_error *err);
    sr_rc (*space)(const struct sr_files *fs, const char *path, uint64_t *free_bytes,
                   struct sr_error *err); /* bytes that a write could still take */
    /* The path with its symbolic links followed, malloc'ed. SR_EABSENT: nothing is there. */
    sr_rc (*follow)(const struct sr_files *fs, const char *path, char **out, struct sr_error *err);
    /* Permission bits and owner of an open file, each may be SR_FILE_KEEP. An owner that may not be
     * given is left, without an error: only root can. */
    sr_rc (*set_access)(struct sr_file *f, uint32_t mode, uint32_t user, uint32_t group,
                        struct sr_error *err);
};

#endif
