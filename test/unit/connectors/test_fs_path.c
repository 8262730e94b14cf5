/* Directories of the filesystem connector, on a forgetful disk. */
#include "connectors/filesystem/filesystem.h"
#include "engine/base/env.h"
#include "engine/data/host.h"
#include "test/sim/disk.h"
#include "test/unit/unit.h"

/* Whatever sync fails: once the call has succeeded, a power loss takes no directory. */
START_TEST(a_directory_is_durable_though_its_sync_failed_before)
{
    for (uint64_t n = 0; n < 3; n++) {
        struct disk *disk = disk_new(n);
        struct env env = env_posix(SR_LOG_ERROR);
        env.files = disk_files(disk);
        struct sr_home *home = home_new();
        struct host_ctx ctx;
        struct sr_host host;
        struct sr_error err;
        struct sr_stat stat;
        host_init(&host, &ctx, &env, home, "test");
        disk_fail_in(disk, DISK_FAULT_SYNC, n);
        ck_assert_int_eq(fs_path_make(&host, "/a/b/c", &err), SR_EIO);
        ck_assert(!disk_fail_pending(disk));
        ck_assert_int_eq(fs_path_make(&host, "/a/b/c", &err), SR_OK);
        disk_crash(disk, DISK_POWER_LOSS);
        disk_restart(disk, DISK_NOTHING);
        ck_assert_int_eq(env.files->stat(env.files, "/a/b/c", &stat, &err), SR_OK);
        home_close(home);
        disk_free(disk);
    }
}
END_TEST

UNIT_MAIN("fs path", a_directory_is_durable_though_its_sync_failed_before)
