/* fuzz_schema.c - schemas: any text is refused with a place or makes a file.
 *
 * A schema that is refused is so after saying why; one that is taken is made in memory,
 * where the library may still refuse, saying why. */
/* SPDX-License-Identifier: MIT */
#include "schema/schema.h"
#include "tests/fuzz/fuzz.h"

#if HAVE_YAML
static void say(void *ctx, int line, int column, const char *message)
{
    int *said = ctx;

    PROMISE(line >= 0 && column >= 0 && *message);
    ++*said;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#if HAVE_YAML
    struct schema *schema;
    int said = 0, err = schema_read((const char *)data, size, say, &said, &schema);

    PROMISE(!err == !said || err == DREP_ERR_NOMEM);
    if (err)
        return 0;
    err = schema_create(schema, ":memory:", 0, NULL, say, &said);
    PROMISE(!err == !said || err == DREP_ERR_NOMEM);
    schema_free(schema);
#else
    (void)data;
    (void)size;
#endif
    return 0;
}
