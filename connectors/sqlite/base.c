#include "connectors/sqlite/base.h"

#include <sqlite3.h>

sr_rc base_rc(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return SR_EBUSY;
    case SQLITE_NOMEM:
        return SR_ENOMEM;
    case SQLITE_FULL:
        return SR_ENOSPC;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return SR_ECORRUPT;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        return SR_EACCESS;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return SR_EDATA;
    default:
        return SR_EIO;
    }
}
