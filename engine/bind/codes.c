#include "engine/bind/codes.h"

#include <stddef.h>

const struct code_page bind_codes[] = {
    {"SR0501", "A step that is read does not exist.",
     "`from` names sources and transforms; nothing comes out of a sink.", NULL},
    {"SR0502", "Two steps share a name or a uid.",
     "State in checkpoints belongs to a uid, so each step needs its own.", NULL},
    {"SR0503", "A source or transform is not used.",
     "Nobody reads it: name it in a `from`, or take it out. Reading it for nothing is most often a "
     "mistake.",
     NULL},
    {"SR0504", "Steps read each other in a circle.",
     "Rows only go forward: one of the steps must read something else.", NULL},
    {"SR0505", "A step reads nothing.",
     "`from` names the step that its rows come from, or a list of steps of the same columns.",
     NULL},
    {"SR0506", "The inputs of a union differ.",
     "All inputs have the same columns, in the same order, of the same types.", NULL},
    {"SR0507", "A sink claims more than its rows have.",
     "A path is as good as its weakest end: the words say which it is. `streamrun validate` shows "
     "each path; either mend the weak end or claim less.",
     "sink.delivery-guarantee: at-least-once"},
    {"SR0508", "A target is complete only at the end, and the job has none.",
     "A plain file appears when all is read. Write into a directory, or read bounded sources only.",
     NULL},
    {"SR0509", "Two sinks write the same place, or two sources take from it.",
     "Only what one sink wrote would remain, and each source would get a part. Give one sink both "
     "inputs, let all steps read from one source, or give one of them another place.",
     "from: [a, b]"},
    {"SR0510", "A job cannot be planned.",
     "The words say which step asks for something that cannot be had together.", NULL},
    {"SR0511", "A sink cannot take updating results.",
     "A grouping without a window changes its results later on. The sink needs a primary-key, or "
     "the grouping a window.",
     NULL},
    {"SR0512", "Two targets would decide about checkpoints.",
     "A sink such as kafka keeps exactly-once by putting the checkpoint into the same transaction "
     "as the rows. Two such transactions cannot be committed in one step: a crash between them "
     "would leave one with the rows and the other without.",
     "exactly-once.method: redo"},
    {"SR0513", "Transactions would end before their checkpoint.",
     "The target aborts a transaction that is open longer than its time-out; rows of a checkpoint "
     "are in one from the checkpoint before to their own.",
     "execution.checkpointing.interval: 10 s"},
    {"SR0601", "There is no such column.",
     "The input of the step has no column of that name; the hint names the nearest. A name that is "
     "a reserved word needs backticks.",
     NULL},
    {"SR0602", "A column, key or watermark is there twice.",
     "Give one of them another name, or take one out.", NULL},
    {"SR0603", "A column cannot be declared like this.",
     "Types are Flink SQL's; the words say what is wrong with this one.", "price: DECIMAL(10, 2)"},
    {"SR0604", "A sink's schema does not fit its input.",
     "Columns go to a sink by name: each declared one is in the input with the same type, and each "
     "of the input is declared.",
     NULL},
    {"SR0605", "A metadata column is not offered.",
     "`streamrun connectors NAME` lists the metadata that a connector gives, with types.",
     "path: STRING METADATA FROM 'file.path'"},
    {"SR0606", "A source needs a schema.",
     "The connector does not know the columns: write them, or let `streamrun infer FILE` do it.",
     NULL},
    {"SR0607", "A watermark or time attribute is not well formed.",
     "Event time is a TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits; bare TIMESTAMP has 6, as in "
     "Flink.",
     "watermark: ts AS ts - INTERVAL '5' SECOND"},
    {"SR0608", "A format is missing, or does not go here.",
     "A connector of bytes needs a format that can read or write; one that makes rows itself takes "
     "none.",
     NULL},
    {"SR0609", "A connector or format refuses its options or columns.",
     "It has looked at all of them together; the words are its own.", NULL},
    {"SR0610", "The keys of a source's or sink's records are not described in full.",
     "key.format says how a key is read or written, key.fields (or the primary key) which columns "
     "are in it; with key.fields-prefix their names begin with it, and the value has none of them.",
     NULL},
    {"SR0701", "An expression or query is no SQL.",
     "The place is where it could not go on. Flink SQL's scalar expressions are taken; names that "
     "are reserved words need backticks.",
     NULL},
    {"SR0702", "An expression has no meaning.",
     "Types do not fit, a function is not known or takes other arguments, or something stands "
     "where it has no place. `streamrun functions NAME` explains a function, `streamrun eval` "
     "tries an expression.",
     NULL},
    {"SR0703", "A grouping is not well formed.",
     "Each selected column is grouped by, or stands in an aggregate.",
     "group-by: [page]\nselect: [page, COUNT(*) AS hits]"},
    {"SR0704", "A window is not well formed.",
     "TUMBLE(time, size), HOP(time, slide, size), CUMULATE(time, step, size), SESSION(time, gap), "
     "over the event time attribute, with constant intervals.",
     "window: TUMBLE(ts, INTERVAL '1' MINUTE)"},
    {"SR0705", "A bound of one step is reached.",
     "LIMITS.md has the numbers; several steps can do what one cannot.", NULL},
    {NULL, NULL, NULL, NULL}};
