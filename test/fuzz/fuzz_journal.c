/* libFuzzer target: the journal's reader. The input is a segment; its frames are made whole again,
 * as far as their heads allow, unless the first byte says otherwise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connectors/common/journal.h"
#include "engine/base/env.h"
#include "engine/data/host.h"
#include "test/sim/disk.h"

#define FUZZ_CHECK(e) ((e) ? (void)0 : abort())

static void fuzz_quiet(const struct env *e, enum sr_level level, const char *who, const char *line)
{
    (void)e, (void)level, (void)who, (void)line;
}

/* Writes digests and the session, so that the fuzzer gets behind the checks. */
static void fuzz_mend(const struct sr_host *host, uint8_t *bytes, size_t len)
{
    struct journal_frame f;
    uint64_t offset = 0;
    for (size_t at = 0; at + JOURNAL_HEAD <= len && journal_frame_get(bytes + at, &f);) {
        if (f.len > len - at - JOURNAL_HEAD) {
            f.len = (uint32_t)(len - at - JOURNAL_HEAD);
        }
        f.session = 1;
        f.offset = offset;
        journal_frame_put(host, &f, bytes + at + JOURNAL_HEAD, bytes + at);
        offset += f.kind == JOURNAL_DATA ? f.len : 0;
        at += JOURNAL_HEAD + f.len;
    }
}

/* Reads all; answers the offset behind it, or UINT64_MAX when the journal is refused. */
static uint64_t fuzz_read(const struct sr_host *host, uint64_t from, uint32_t room,
                          const uint8_t *origin)
{
    struct journal j;
    struct sr_error err;
    uint8_t bytes[512];
    uint32_t got = 1;
    FUZZ_CHECK(journal_open(&j, host, "/j", JOURNAL_BYTES_MIN, &err) == SR_OK);
    sr_rc rc = journal_go(&j, 1, from, origin, &err);
    while (rc == SR_OK && got > 0) {
        uint64_t before = j.offset;
        rc = journal_read(&j, bytes, room, &got, &err);
        FUZZ_CHECK(rc != SR_OK || (got <= room && j.offset == before + got));
    }
    uint64_t end = rc == SR_OK ? j.offset : UINT64_MAX;
    if (rc == SR_OK && origin && !j.has_end) {
        FUZZ_CHECK(journal_append(&j, (const uint8_t *)"more", 4, &err) == SR_OK);
    }
    journal_close(&j);
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t origin[JOURNAL_ORIGIN] = "fuzz";
    if (size < 1 || size > 65536) {
        return 0;
    }
    struct disk *disk = disk_new(1);
    struct env env = env_posix(SR_LOG_ERROR);
    env.files = disk_files(disk);
    env.log = fuzz_quiet;
    struct sr_home *home = home_new();
    struct host_ctx ctx;
    struct sr_host host;
    host_init(&host, &ctx, &env, home, "fuzz");
    uint8_t *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] % 4 > 0) {
        fuzz_mend(&host, bytes, size - 1);
    }
    char *path = journal_path("/j", 1, 0);
    struct sr_error err;
    FUZZ_CHECK(env.files->make_dir(env.files, "/j", &err) == SR_OK);
    FUZZ_CHECK(disk_put(disk, path, bytes, size - 1) == SR_OK);
    uint64_t end = fuzz_read(&host, 0, 512, NULL);
    FUZZ_CHECK(fuzz_read(&host, 0, 1, NULL) == end);
    if (end != UINT64_MAX) {
        FUZZ_CHECK(fuzz_read(&host, end / 2, 7, NULL) == end);
        FUZZ_CHECK(fuzz_read(&host, end, 512, origin) == end); /* cuts what is torn, goes on */
        uint64_t again = fuzz_read(&host, 0, 512, NULL);
        FUZZ_CHECK(again == end || again == end + 4);
    }
    free(path);
    free(bytes);
    home_close(home);
    disk_free(disk);
    return 0;
}
