#include "engine/ops/ops.h"

const struct sr_op_type *const ops_builtin[] = {
    &calc_type,      &group_aggregate_type,  &normalize_type,
    &watermark_type, &window_aggregate_type, NULL};
