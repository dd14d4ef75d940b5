/* hdf5_parts.h - what the parts of the HDF5 module share.
 *
 * hdf5.c holds the entry points and the job, hdf5_type.c the correspondence of the
 * datatypes, hdf5_move.c that of the values, hdf5_import.c and hdf5_export.c the two
 * directions.  An HDF5 object is known by its address, one of ours by its id. */
#ifndef TOOLS_HDF5_PARTS_H
#define TOOLS_HDF5_PARTS_H

/* Later versions of HDF5 offer the calls of 1.10 under this name. */
#define H5_USE_110_API
#include <hdf5.h>
#include <stdint.h>

#include <datarep.h>

#include "tools/hdf5.h"

/* The attributes by which HDF5 files say what is a dimension ("HDF5 Dimension Scale
 * Specification"), and by which we keep what a dimension object has no field for. */
#define SCALE_CLASS "CLASS"
#define SCALE_NAME "NAME"
#define SCALE_USERS "REFERENCE_LIST"
#define SCALE_LIST "DIMENSION_LIST"
#define SCALE_VALUE "DIMENSION_SCALE"
/* How netCDF-4 names a scale that is a dimension only; ten digits of its length follow. */
#define SCALE_NO_VARIABLE "This is a netCDF dimension but not a netCDF variable."
#define SCALE_NO_VARIABLE_SIZE 64
/* How the names of netCDF's own attributes begin. */
#define NETCDF_OWN "_Netcdf4"
/* Of a dimension object: the dataset with its coordinates, an object reference; and the
 * length of its HDF5 scale where that is less than the dimension's. */
#define DIM_VARIABLE "variable"
#define DIM_SCALE_LENGTH "scale_length"

/* One object of the source. */
struct object {
    uint64_t key;    /* import: its address; export: our id */
    uint64_t made;   /* the other of the two once it is made, else 0 */
    char *path;      /* in the destination */
    int kind;        /* enum drep_objkind */
    int scale;       /* a dimension: 1 with a variable, 2 without */
    int unlimited;   /* a dimension */
    int64_t length;  /* a dimension */
    char *dim_path;  /* import: of the dimension object that this scale becomes */
    uint64_t users;  /* import: how many dimensions of datasets refer to this scale, */
    uint64_t digest; /*         and which, in order */
};

struct job {
    const struct hdf5_options *o;
    drep_file *d;
    hid_t h;
    char why[600];          /* of the last failure */
    struct object *objects; /* in the order of a walk, breadth first */
    size_t n, room;
    size_t *slots; /* a hash of the keys: index + 1, 0 empty */
    size_t nslots;
    drep_encoding encodings[256]; /* export: by code, as the file's datarep stores it */
    uint8_t standard[256];        /* export: the formats of external32 */
    int own_order;                /* export: but in this machine's byte order */
    int from_x86;                 /* export: the file was made on an x86 machine */
};

/* Keeps the message and returns err. */
int job_fail(struct job *j, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with what HDF5, or our library, says. */
int job_fail_hdf5(struct job *j, const char *doing);
int job_fail_drep(struct job *j, int err);
void job_warn(struct job *j, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void job_note(struct job *j, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What a failed step about one object means: names it with j->why and returns 0 if the
 * rest can go on; else err. */
int job_skip(struct job *j, int err, const char *path, const char *what);
/* DREP_ERR_STOPPED once a signal asks the process to end; to be asked now and then. */
int job_stopped(struct job *j);
/* NULL if it is not known. */
struct object *job_find(struct job *j, uint64_t key);
/* Takes path over, also on failure.  Pointers to objects die here. */
int job_add(struct job *j, uint64_t key, int kind, char *path);
void job_release(struct job *j);
/* "/a" and "b" give "/a/b"; malloc'ed, NULL without memory. */
char *path_join(const char *group, const char *name);

/* -------------------------------------------------------------- datatypes */

enum map_kind {
    MAP_FLAT,     /* the same bytes in both memories */
    MAP_SWAP,     /* the same in reverse */
    MAP_COMPOUND, /* parts side by side */
    MAP_ARRAY,    /* n of one part */
    MAP_SEQUENCE, /* hvl_t and drep_vlen of one part */
    MAP_OBJECT,   /* hobj_ref_t and drep_ref */
    MAP_REGION    /* hdset_reg_ref_t and drep_ref */
};

/* How one element lies in memory for HDF5 and for us.  HDF5's memory types have the
 * precision of its file types, so that its own conversions only turn bytes round. */
struct map {
    hid_t file;      /* export: as HDF5 stores it; import: 0 */
    hid_t mem;       /* as HDF5 has it in memory */
    drep_type *type; /* as we have it there */
    size_t hsize, dsize;
    int kind;     /* enum map_kind */
    int variable; /* strings or sequences inside own memory */
    int ascii;    /* import: strings inside are marked ASCII */
    size_t n;     /* members, elements */
    size_t nparts;
    struct map *parts;
    size_t *hoffset, *doffset; /* of a compound's parts */
};

/* Fills j->encodings from the header of j->d. */
int map_encodings(struct job *j);
/* DREP_ERR_UNSUPPORTED with a reason where there is no counterpart; nothing to
 * release then. */
int map_from_hdf5(struct job *j, hid_t file_type, struct map *out);
/* out->type may be wider than `type`, where this machine's would not hold the file's
 * values. */
int map_from_drep(struct job *j, const drep_type *type, struct map *out);
void map_release(struct map *m);

/* ----------------------------------------------------------------- values */

/* Memory that lives as long as a block of values. */
struct held {
    struct held *next;
};

struct move {
    struct job *j;
    /* Turns an hobj_ref_t or hdset_reg_ref_t into a drep_ref, or the other way. */
    int (*ref)(struct move *mv, int region, void *h, drep_ref *d);
    const char *path; /* of what is moved, for messages */
    struct held *held;
};

void *move_alloc(struct move *mv, size_t size);
void move_release(struct move *mv);
int move_in(struct move *mv, const struct map *m, size_t n, const void *h, void *d);
int move_out(struct move *mv, const struct map *m, size_t n, const void *d, void *h);
/* Texts of selections, as SPEC.md has them. */
int region_print(struct move *mv, hid_t space, char **text);
int region_select(struct job *j, const char *text, hid_t space);

/* Walks an array in boxes, row-major. */
struct box {
    int rank;
    int started;
    int64_t base[DREP_MAX_RANK];  /* of the array inside a larger one */
    int64_t dims[DREP_MAX_RANK];  /* of the array */
    int64_t step[DREP_MAX_RANK];  /* of a box */
    int64_t start[DREP_MAX_RANK]; /* of this box, base included */
    int64_t count[DREP_MAX_RANK]; /* its size, cut at the edge */
};

void box_init(struct box *b, int rank, const int64_t *dims, const int64_t *step);
int box_next(struct box *b);
int64_t box_elements(const struct box *b);
/* Multiplies step, from the last dimension on, while a box has at most `most` elements. */
void box_grow(int rank, const int64_t *dims, int64_t most, int64_t *step);
/* Selects the box in an HDF5 dataspace; -1 on failure. */
int box_select_hdf5(const struct box *b, hid_t space);
/* A dataspace of a box alone, for HDF5's memory. */
hid_t box_space(const struct box *b);

/* Bytes of one block in memory, where chunks do not ask for more. */
#define BLOCK_SIZE (4 << 20)

int import_all(struct job *j);
int export_all(struct job *j);

#endif
