#include "conf/codes.h"

#include <stddef.h>

const struct code_page conf_codes[] = {
    {"SR0101", "A file cannot be read.",
     "The job file, or the one given by --conf or $STREAMRUN_CONF_DIR, is not there or may not be "
     "read. The words behind it are the system's.",
     NULL},
    {"SR0102", "A file is no text, or has bytes that YAML does not allow.",
     "A job file is UTF-8 text of at most 1 MiB, without zero bytes and control characters. In "
     "double quotes such a character can be written as an escape: \\xNN.",
     NULL},
    {"SR0103", "A file is no job.",
     "A job is one YAML document, a mapping of keys to values, and not empty.",
     "parallelism.default: 2\nsources: ..."},
    {"SR0104", "A file is no YAML.",
     "The place is where YAML could not go on; the mistake is there or shortly before: a tab, an "
     "open quote or bracket, an indentation that does not fit.",
     NULL},
    {"SR0105", "YAML took a part of a text for something else.",
     "# begins a comment, `: ` ends a key, a comma separates in [..] and {..}, * and & and ! at "
     "the beginning have a meaning of their own. Quote the text, or write it as a block.",
     "where: |\n  url LIKE '%#%'"},
    {"SR0106", "An anchor, alias or merge key is wrong.",
     "An alias stands behind its anchor, not within it; `<<` merges mappings only.", NULL},
    {"SR0107", "A bound of job files is reached.",
     "Files are bounded in nesting, number of values, aliases and length of keys and texts, so "
     "that no file can take all memory: LIMITS.md has the numbers.",
     NULL},
    {"SR0108", "A key is written twice.",
     "Which value counts would be a matter of luck. The hint says where the other one is; a nested "
     "key and a flat one may be the same.",
     "a: {b: 1}\na.b: 2"},
    {"SR0109", "A key is no plain text.",
     "A key is a plain text that is not empty, no list and no mapping; in quotes it may have any "
     "character.",
     NULL},
    {"SR0110", "A variable or file in ${...} cannot be used.",
     "${NAME} is a variable of the environment, ${NAME:-default} one with a default, ${file:/path} "
     "the content of a file; $${ gives ${ itself.",
     "password: ${file:/run/secrets/db}"},
    {"SR0201", "A key is unknown.",
     "No option of the job, step, connector or format has this name: most often a slip, or a key "
     "of another connector. The hint names the nearest one; `streamrun connectors NAME` and "
     "`streamrun help KEY` list them.",
     "paht: in.csv     # path"},
    {"SR0202", "A value has the wrong form.",
     "One value where a list stands, a mapping where a text is wanted, or nothing at all. An empty "
     "text is written ''.",
     NULL},
    {"SR0203", "A value cannot be read, or is out of range.",
     "The words say what the option takes: a number, a duration such as 10 s, a size such as 64 "
     "mb, one of some words, and in which range.",
     "execution.checkpointing.interval: 10 s"},
    {"SR0204", "A key has an older name.", "It works; the newer name is that of Flink today.",
     NULL},
    {"SR0205", "A key that must be there is missing.",
     "The connector, format or step cannot work without it.", NULL},
    {"SR0206", "Keys of Flink have no effect here.",
     "They are accepted, so that a flink-conf.yaml or config.yaml works unchanged, and do nothing: "
     "they speak of a cluster, or of something that is not there yet and changes no result.",
     NULL},
    {"SR0207", "Flink has this, and streamrun does not have it yet.",
     "Nothing of it is taken silently, because the result or what survives a crash would differ. "
     "LIMITS.md, `Not there yet`, lists all of it.",
     NULL},
    {"SR0208", "The job's name or id is not well formed.",
     "A name has 1 to 255 bytes and no control characters, an id 32 hexadecimal digits.", NULL},
    {"SR0209", "A place for checkpoints is not well formed.",
     "A directory as file:///directory or a path, or one SQLite file as sqlite:///file.db or a "
     "path that ends in .db.",
     "execution.checkpointing.dir: file:///var/lib/jobs"},
    {"SR0210", "The parallelism is above the largest one.",
     "State is divided into pipeline.max-parallelism key groups; more subtasks than groups cannot "
     "share it.",
     NULL},
    {"SR0211", "A key on the command line is not well formed.", "-D takes KEY=VALUE, once a key.",
     "streamrun run job.yaml -D parallelism.default=2"},
    {"SR0212", "A configuration file has keys of a job's steps.",
     "Defaults for all jobs are keys of the job only; sources, transforms and sinks belong into "
     "the job file.",
     NULL},
    {"SR0213", "A time zone is not known.",
     "Names are those of the time zone database, such as Europe/Berlin, or UTC.", NULL},
    {"SR0214", "dead-letter is asked for, and nothing says where they go.",
     "A block `dead-letter:` names a connector and its options.",
     "dead-letter:\n  connector: filesystem\n  path: dead/"},
    {"SR0215", "A value is not UTF-8.",
     "A checkpoint holds the job's description in UTF-8. A path is taken as it is written, behind "
     "the job file's directory when it is relative; this one has bytes that are no characters.",
     NULL},
    {"SR0301", "A job has no sources or no sinks.",
     "Rows come from at least one source and go to at least one sink.", NULL},
    {"SR0302", "The name of a step is not well formed or not its own.",
     "1 to 128 bytes without / and control characters, and without dots, behind which a key "
     "begins; no two steps have the same name, and each has keys.",
     NULL},
    {"SR0303", "A schema is not well formed.",
     "A mapping `name: TYPE`, or one text as between the brackets of CREATE TABLE, not both.",
     "schema:\n  id: BIGINT\n  name: STRING"},
    {"SR0304", "A transform is written in two ways.",
     "Either `sql:` says all of it, or from, where, select, window and group-by do.", NULL},
    {"SR0401", "There is no such connector or format.",
     "`streamrun connectors` lists those that are built in; others are looked for as NAME.so in "
     "plugins.dir. A connector may be able to read only, or to write only.",
     NULL},
    {"SR0402", "A plugin cannot be loaded.",
     "A file NAME.so lies in plugins.dir, but is none, was built for another version, lacks a "
     "call, or could be written by others.",
     NULL},
    {NULL, NULL, NULL, NULL}};
