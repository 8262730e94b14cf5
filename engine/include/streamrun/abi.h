/* The contract between streamrun and its plugins: versions, export rules, helpers of the lobby.
 *
 * A plugin may include <streamrun/...> and nothing else of ours. Everything that it needs at run
 * time comes to it through struct sr_host, so a plugin has no undefined symbol that the host must
 * provide. Structs here only ever grow at the end; a reader checks `size` before it touches a field
 * newer than major version SR_ABI_MAJOR. While the major version is 0, every minor one may break.
 */
#ifndef STREAMRUN_ABI_H
#define STREAMRUN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SR_ABI_MAJOR 0u
#define SR_ABI_MINOR 2u

#define SR_EXPORT             __attribute__((visibility("default")))
#define SR_MUST_CHECK         __attribute__((warn_unused_result))
#define SR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* True when the struct that `ptr` points to was built with a header that knew `field`. */
#define SR_HAS_FIELD(ptr, type, field) \
    ((ptr)->size >= offsetof(type, field) + sizeof(((type *)0)->field))

#endif
