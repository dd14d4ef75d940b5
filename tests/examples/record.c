/* record.c - structs of C as elements: members by name, an array, an enum, texts of any length.
 *
 * The file holds the members packed under external32; offsets, gaps and byte order of this
 * machine's struct play no part in it.  Another program may ask for some of the members only. */
/* SPDX-License-Identifier: MIT */
#include <datarep.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct sample {
    int64_t when;
    float position[3];
    signed char quality; /* 0 good, 1 doubtful */
    char *remark;
};

static void check(int err)
{
    if (err == 0)
        return;
    fprintf(stderr, "%s\n", drep_error());
    exit(1);
}

static drep_type *sample_type(void)
{
    const char *members[] = {"when", "position", "quality", "remark"};
    int64_t offsets[] = {offsetof(struct sample, when), offsetof(struct sample, position),
                         offsetof(struct sample, quality), offsetof(struct sample, remark)};
    drep_type *position, *quality, *remark, *sample;

    check(drep_type_array(1, (int64_t[]){3}, DREP_FLOAT, &position));
    check(drep_type_enum(DREP_INT8_T, 2, (const char *[]){"good", "doubtful"}, (int64_t[]){0, 1},
                         &quality));
    check(drep_type_vstring(&remark));
    check(drep_type_compound(4, members, offsets,
                             (const drep_type *[]){DREP_INT64_T, position, quality, remark},
                             sizeof(struct sample), &sample));
    drep_type_free(position);
    drep_type_free(quality);
    drep_type_free(remark);
    return sample;
}

int main(void)
{
    struct sample out[] = {{1, {0, 0.5f, 1}, 0, "first"}, {2, {2, 2.5f, 3}, 1, ""}}, back[2];
    drep_type *type = sample_type();
    drep_spec spec = DREP_SPEC(.type = type, .rank = 1, .dims = (int64_t[]){2});
    drep_dataset *samples;
    drep_dsinfo info = DREP_DSINFO;
    drep_file *file;
    char *text;
    int i;

    check(drep_create("record.drep", DREP_RDWR, "external32", NULL, &file));
    check(drep_dataset_create(file, "/samples", &spec, &samples));
    check(drep_write(samples, NULL, type, out, NULL));
    check(drep_dataset_info(samples, &info));
    check(drep_type_print(info.type, &text));
    puts(text);
    free(text);

    check(drep_read(samples, NULL, type, back, NULL));
    for (i = 0; i < 2; i++)
        printf("%d: %g %g %g, quality %d, \"%s\"\n", (int)back[i].when, back[i].position[0],
               back[i].position[1], back[i].position[2], back[i].quality, back[i].remark);
    drep_vlen_free(type, 2, back); /* the texts */
    drep_dataset_close(samples);
    check(drep_close(file));
    drep_type_free(type);
    return 0;
}
