/* peer_sql.h - SQLite as a competitor: calls that have to succeed.
 *
 * Include where HAVE_SQLITE is set. */
/* SPDX-License-Identifier: MIT */
#ifndef BENCH_PEER_SQL_H
#define BENCH_PEER_SQL_H

#include "bench.h"

#include <sqlite3.h>

static inline void sql_run(sqlite3 *db, const char *text)
{
    bench_must(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, text);
}

static inline sqlite3 *sql_open(const char *path, int flags)
{
    sqlite3 *db;

    bench_must(sqlite3_open_v2(path, &db, flags, NULL) == SQLITE_OK, "sqlite3_open_v2");
    return db;
}

static inline sqlite3_stmt *sql_prepare(sqlite3 *db, const char *text)
{
    sqlite3_stmt *stmt;

    bench_must(sqlite3_prepare_v2(db, text, -1, &stmt, NULL) == SQLITE_OK, text);
    return stmt;
}

static inline void sql_step(sqlite3_stmt *stmt, int want)
{
    bench_must(sqlite3_step(stmt) == want, "sqlite3_step");
}

/* Run a statement that gives no rows, and make it ready for other values. */
static inline void sql_put(sqlite3_stmt *stmt)
{
    sql_step(stmt, SQLITE_DONE);
    sqlite3_reset(stmt);
}

static inline void sql_close(sqlite3 *db)
{
    bench_must(sqlite3_close(db) == SQLITE_OK, "sqlite3_close");
}

#endif
