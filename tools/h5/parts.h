/* parts.h - what the parts of the HDF5 module share.
 *
 * job.c holds the entry points and the job; type_in.c and type_out.c the
 * correspondence of datatypes, values.c, region.c and array.c that of values;
 * import.c, scale.c, keep.c and data_in.c the way in, export.c,
 * layout.c and data_out.c the way out, verify.c reading that back,
 * note.c the annotations between; guard.c and virtual.c decide which files
 * are read on the way in, header.c and measure.c check what HDF5 does not.
 * An HDF5 object is known by its address, one of ours by its id. */
#ifndef TOOLS_H5_PARTS_H
#define TOOLS_H5_PARTS_H

/* Later versions of HDF5 offer the calls of 1.10 under this name. */
#define H5_USE_110_API
#include "schema/paths.h"
#include <hdf5.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <datarep.h>

#include "tools/h5/interface.h"

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
    char *source;    /* in the source, if that is another; else NULL */
    int kind;        /* enum drep_objkind */
    int scale;       /* a dimension: 1 with a variable, 2 without */
    int unlimited;   /* a dimension */
    int64_t length;  /* a dimension */
    char *dim_path;  /* import: of the dimension object that this scale becomes */
    uint64_t users;  /* import: how many dimensions of datasets refer to this scale, */
    uint64_t digest; /*         and which, in order; export: a dimension's variable */
    hid_t handle;    /* export: a named datatype without a name yet */
};

/* Lines about one object, as its attribute REMARKS holds them (datarep(1), "HDF5"). */
struct remarks {
    char **line;
    size_t n, room;
};

/* A link that has no counterpart, to be kept with the group that holds it. */
struct odd_link {
    size_t group;     /* index of its object */
    int64_t position; /* links of that group before it */
    char *name;
    char *was;       /* a renamed link: its name in HDF5; else NULL */
    uint64_t target; /* a circle: address of the group it leads to; else 0 */
    int cls;         /* a link of another class: its number, else 0 */
    uint8_t *data;   /* its bytes */
    size_t size;
};

/* An attribute that has no counterpart in HDF5, and was reported as lost. */
struct lost {
    uint64_t key; /* of its object */
    char *attribute;
};

/* Which files an import may read: guard.c. */
struct guard {
    const char *src;
    char dir[PATH_MAX]; /* real path of its directory, with a slash; "": no other file */
    int outside;        /* regular files elsewhere too */
    int fd;             /* the source itself */
    dev_t device;
    ino_t inode;
    hid_t driver, fapl;
    char why[PATH_MAX + 200]; /* the last file that was not opened, and the reason */
};

struct job {
    const struct hdf5_options *o;
    struct guard guard; /* import */
    drep_file *d;
    hid_t h;
    char why[600];          /* of the last failure */
    struct object *objects; /* in the order of a walk, breadth first */
    size_t n, room;
    size_t *slots; /* a hash of the keys: index + 1, 0 empty */
    size_t nslots;
    struct odd_link *links; /* import: in the order of their groups */
    size_t nlinks, links_room;
    drep_encoding encodings[256]; /* by code, as the container's datarep stores it */
    drep_encoding plain[256];     /* by code, little-endian: of named datatypes */
    uint8_t standard[256];        /* the formats of external32 */
    int declared;                 /* its representation is none of the built-in ones */
    int from_x86;                 /* export: the container was made on an x86 machine */
    int lean;                     /* a view: data is not moved, findings are not said */
    /* What is so common in the HDF5 file that only the rest is remarked. */
    int cset;             /* H5T_CSET_... */
    int fill_time;        /* H5D_FILL_TIME_... */
    uint64_t done, total; /* bytes of elements */
    int64_t dated;        /* import: objects with a time of change */
    struct hdf5_totals totals;
    struct threads *threads; /* threads for chunks, made at first use */
    void *measured;          /* import: a tree of the datasets that measure_all() has seen */
    struct lost *lost;       /* export */
    size_t nlost, lost_room;
    struct job *back; /* export, while the file is read back: a job whose objects are known by
                         their addresses there; else NULL */
};

/* Keeps the message and returns err. */
int job_fail(struct job *j, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));
int job_no_memory(struct job *j);
/* The same with what HDF5, or our library, says. */
int job_fail_hdf5(struct job *j, const char *doing);
int job_fail_drep(struct job *j, int err);
/* A finding about the object at `path`. */
void job_say(struct job *j, int weight, const char *what, const char *path, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* What a failed step about one object means: it is lost, with j->why, and the rest goes
 * on: 0; or, if that cannot be: err. */
int job_skip(struct job *j, int err, const char *what, const char *path, const char *text);
/* DREP_ERR_STOPPED once a signal asks the process to end; to be asked now and then. */
int job_stopped(struct job *j);
void job_progress(struct job *j, uint64_t bytes);
/* Tells whoever watches which object is in hand. */
void job_at(struct job *j, const char *path);
/* NULL if it is not known. */
struct object *job_find(struct job *j, uint64_t key);
/* Takes path and source over, also on failure.  Pointers to objects die here. */
int job_add(struct job *j, uint64_t key, int kind, char *path, char *source);
/* Of the object in the source, below the root of the job; malloc'ed, NULL without memory. */
char *job_source(struct job *j, const struct object *o);
void job_release(struct job *j);

/* ------------------------------------------------------------ files to be read */

enum guard_verdict { GUARD_ALLOWED, GUARD_REFUSED, GUARD_ABSENT };

/* Leaves directories of plugins out of HDF5's search that are relative or that anybody may
 * write. */
void guard_plugins(void);
/* Opens the source, which must be a regular file. */
int guard_init(struct job *j, struct guard *g);
void guard_release(struct guard *g);
/* The access list for H5Fopen(): of the driver that opens allowed files only; -1 on failure. */
hid_t guard_fapl(struct guard *g);
/* Whether a file may be read; if not, or if there is none, `why` says so. */
enum guard_verdict guard_judge(const struct guard *g, const char *name, char *why, size_t size);

/* ------------------------------------------------------------- annotations */

/* The attributes of ours that hold what a container has no place for. */
#define KEEP_REMARKS "hdf5:remarks"
#define KEEP_NAMED "hdf5:named"
#define KEEP_CIRCLES "hdf5:circles"
#define KEEP_USER_BLOCK "hdf5:userblock"
int is_annotation(const char *name);

int remarks_add(struct job *j, struct remarks *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void remarks_release(struct remarks *r);
/* Writes the attribute of the object at `path`, none for no lines. */
int remarks_write(struct job *j, const struct remarks *r, const char *path);
/* Reads it; without one there are no lines. */
int remarks_read(struct job *j, const char *path, struct remarks *r);
/* What follows `begin` and a space in the first line that begins so; NULL if none does. */
const char *remarks_find(const struct remarks *r, const char *begin);
/* The lines of a datatype: those that begin with `kind` and, if given, end with the name
 * of an attribute, without either; sorted for remark_of(). */
int remarks_of_type(struct job *j, const struct remarks *r, const char *kind, const char *name,
                    struct remarks *out);
/* Of sorted lines "PLACE WORD=VALUE": the value, NULL if there is none. */
const char *remark_of(const struct remarks *r, const char *place, const char *word);
/* Bytes as hex digits and back; malloc'ed. */
char *hex_from(const void *bytes, size_t size);
uint8_t *hex_to(const char *text, size_t digits, size_t *size);

/* -------------------------------------------------------------- datatypes */

enum map_kind {
    MAP_FLAT,     /* the same bytes in both memories */
    MAP_SWAP,     /* two halves, each the same in reverse */
    MAP_COMPOUND, /* parts side by side */
    MAP_ARRAY,    /* n of one part */
    MAP_SEQUENCE, /* hvl_t and drep_vlen of one part */
    MAP_OBJECT,   /* hobj_ref_t and drep_ref */
    MAP_REGION    /* hdset_reg_ref_t and drep_ref */
};

/* How elements lie.  HDF5 gets them in memory as they lie in its file, but for pointers
 * and references, so that it converts nothing; our library takes and gives the same
 * bytes as scalars of that order and format. */
struct map {
    hid_t mem;       /* as HDF5 has an element in memory */
    drep_type *held; /* what our library calls those bytes, or what they become */
    drep_type *type; /* as the container stores it */
    size_t hsize, dsize;
    int kind;     /* enum map_kind */
    int variable; /* strings or sequences inside own memory */
    int strings;  /* strings of variable length inside */
    size_t n;     /* members, elements */
    size_t nparts;
    struct map *parts;
    size_t *hoffset, *doffset; /* of a compound's parts */
};

/* Fills j->encodings and the like from the header of j->d. */
int map_encodings(struct job *j);
/* As the container stores it; of a named datatype: as those are exported. */
drep_encoding map_encoding(const struct job *j, int code, int named);

/* What to note of byte orders: they are not kept, unless asked for. */
enum { ORDER_SILENT, ORDER_STORED, ORDER_NAMED };
/* The map of an HDF5 datatype.  notes: gets what the container's datatype does not say,
 * may be NULL.  as: the container's datatype if it exists already, else NULL.
 * DREP_ERR_UNSUPPORTED with a reason where there is no counterpart; nothing to release
 * then. */
int map_from_hdf5(struct job *j, hid_t type, const drep_type *as, int orders, struct remarks *notes,
                  struct map *out);
void map_release(struct map *m);
/* Whether HDF5 moves elements between its file and our memory without touching them. */
int map_is_copy(hid_t file, const struct map *m);

/* The HDF5 datatype for one of ours, as notes want it; 0 and j->why on failure.
 * named: of a named datatype, not of data. */
hid_t made_type(struct job *j, const drep_type *type, const struct remarks *notes, int named);
/* A datatype that a remark describes whole ("time size=4 ..."); 0 if it cannot be. */
hid_t made_from_text(const char *text);
/* The text for it; buf has at least 200 bytes. */
void made_to_text(hid_t type, char *buf, size_t size);
/* An integer of HDF5. */
hid_t made_int(size_t size, int is_signed, H5T_order_t order);

/* A real format that HDF5 can describe, by its number or by its fields; NULL if there is none. */
const drep_format_info *real_of_format(int format);
const drep_format_info *real_of_fields(const drep_scalar *s);
H5T_order_t order_native(void);
H5T_order_t order_to_hdf5(int order);

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
/* Memory for the strings and sequences that HDF5 reads, given up all at once. */
struct arena {
    struct slab *slabs;
    size_t total, limit;
    int refused; /* reading failed because the limit was reached */
};
/* How to read into it; to be closed. */
hid_t arena_transfer(struct arena *a);
/* Before so many elements are read: one may have contents of any size, more only some MiB. */
void arena_begin(struct arena *a, size_t elements);
void arena_release(struct arena *a);

/* n elements between HDF5's memory and that of `held`. */
int move_in(struct move *mv, const struct map *m, size_t n, const void *h, void *d);
int move_out(struct move *mv, const struct map *m, size_t n, const void *d, void *h);
/* Calls fn for each string of variable length in n elements in HDF5's memory. */
typedef void move_string_fn(char **string, void *ctx);
void move_strings(const struct map *m, size_t n, void *h, move_string_fn *fn, void *ctx);

/* Strings that HDF5 has not at all: null.c. */
struct null_run {
    int64_t start, count; /* numbers of strings */
};
struct nulls {
    int64_t null, empty; /* how many strings are not there, and are empty */
    int64_t per;         /* strings in an element, -1: not known */
    int64_t at;          /* number of the string in hand */
    struct null_run *run;
    size_t n, room;
    int many; /* more than are listed */
    int all;  /* out: every empty string is none */
};
void nulls_release(struct nulls *n);
/* Notes, or on the way out makes, absent strings among `count` elements in HDF5's memory:
 * those of a box in a dataset, or, without one, in a row. */
struct box;
void nulls_note(struct nulls *n, const struct map *m, const struct box *box, const int64_t *dims,
                size_t count, void *h);
void nulls_apply(struct nulls *n, const struct map *m, const struct box *box, const int64_t *dims,
                 size_t count, void *h);
int nulls_any(const struct nulls *n);
/* The lines about them; name: of an attribute, NULL for a dataset. */
int nulls_remark(struct job *j, const struct nulls *n, const char *name, const char *path,
                 struct remarks *r);
int nulls_read(struct job *j, const struct remarks *all, const struct remarks *notes,
               const char *name, struct nulls *n);

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
/* The box in two, along its longest dimension. */
void box_halves(struct box *b, const struct box *whole);
/* Multiplies step, from the last dimension on, while a box has at most `most` elements. */
void box_grow(int rank, const int64_t *dims, int64_t most, int64_t *step);
/* Selects the box in an HDF5 dataspace; -1 on failure. */
int box_select_hdf5(const struct box *b, hid_t space);
/* A dataspace of a box alone, for HDF5's memory. */
hid_t box_space(const struct box *b);

/* Bytes of one block in memory, where chunks do not ask for more. */
#define BLOCK_SIZE (4 << 20)

/* Registers a conversion of arrays in place of libhdf5's, which loses strings and sequences:
 * array.c.  -1 on failure. */
int array_conversion_begin(void);
void array_conversion_end(void);

/* ----------------------------------------------------------------- the way in */

/* One dataset being made or filled. */
struct source {
    hid_t dset, type, space, dcpl;
    int rank; /* or DREP_NULL_SPACE */
    hsize_t dims[H5S_MAX_RANK], maxdims[H5S_MAX_RANK];
    H5D_layout_t layout;
    hsize_t chunk[H5S_MAX_RANK];
    struct map map;
    struct remarks notes;    /* of its datatype */
    struct measure *measure; /* of its chunks; NULL: it has none */
};

int source_open(struct job *j, const struct object *o, struct source *out);
void source_close(struct source *s);
int source_shape(struct job *j, struct source *s);

/* A reference of HDF5 as one of ours. */
int ref_in(struct move *mv, int region, void *h, drep_ref *d);

/* Our name for a link or attribute of HDF5: the same, or, where that is none, one made
 * from it; malloc'ed. */
char *own_name(const char *name, int attribute);
int is_own_name(const char *name, int attribute);

/* Dimension scales: scale.c.  One use of a scale, as REFERENCE_LIST has it, and the
 * datatype of that. */
struct scale_user {
    hobj_ref_t dataset;
    int dimension;
};
hid_t scale_user_type(void);
int scale_note(struct job *j, hid_t group, struct object *o);
void scale_find_uses(struct job *j);
/* The objects behind a dataset's DIMENSION_LIST; false if it has none to speak of, or one
 * that does not fit and is kept as an attribute instead. */
int scale_find(struct job *j, const struct source *s, struct object **scales);
/* 1 if the export makes the attribute again by itself. */
int scale_implies(struct job *j, hid_t object, const struct object *o, const char *name);
/* What a dimension object says beyond its length. */
int scale_mark(struct job *j, hid_t object, const struct object *o);

/* What containers have no place for: keep.c. */
int keep_defaults(struct job *j);
/* Lines about the object number i, those that its links need included. */
int keep_object(struct job *j, hid_t object, size_t i, struct remarks *r);
int keep_mapping(struct job *j, const char *path, const struct source *s, struct remarks *r);
int keep_file(struct job *j, struct remarks *r);
/* Enters a link without a counterpart; takes its strings and data over. */
int keep_link(struct job *j, const struct odd_link *link);
/* The datatypes of an object's data (attribute NULL) and attributes that are named ones. */
struct sharing {
    char *attribute; /* NULL: the data */
    uint64_t type;   /* import: our id of the named datatype; export: its address */
};
struct sharings {
    struct sharing *s;
    size_t n, room;
};
/* *shared: whether it is one that the container has too. */
int keep_sharing(struct job *j, struct sharings *all, hid_t type, const char *path,
                 const char *attribute, int *shared);
int sharings_add(struct job *j, struct sharings *all, uint64_t type, const char *attribute);
int sharings_write(struct job *j, const struct sharings *all, const char *path);
int sharings_read(struct job *j, const char *path, struct sharings *all);
uint64_t sharing_of(const struct sharings *all, const char *attribute);
void sharings_release(struct sharings *all);

/* How datasets are stored: layout.c.  In: the filters and the layout that a dataset's
 * become; chunk has room for the rank. */
int filters_in(struct job *j, const char *path, const struct source *s, drep_filter *filters,
               int *n);
void layout_in(struct job *j, const char *path, const struct source *s, drep_spec *spec,
               int64_t *chunk);
/* Lines about what export would do otherwise than the source. */
int store_remarks(struct job *j, const drep_dsinfo *info, const struct source *s,
                  struct remarks *r);
/* The same of a scale without a variable, whose chunks netCDF makes this long. */
#define STORE_BARE_CHUNK 1
int store_remarks_bare(struct job *j, hid_t dset, const struct object *o, struct remarks *r);
int store_defaults_write(struct job *j, struct remarks *r);
/* Out: sets the properties of a dataset of this datatype. */
int store_out(struct job *j, const char *path, const drep_dsinfo *info, hid_t type,
              const struct remarks *r, hid_t dcpl);
void store_defaults_read(struct job *j, const struct remarks *r);
void store_times_out(struct job *j, const struct remarks *r, hid_t dcpl);

/* Threads beside the caller's that take items of a list: threads.c.  fn is told which
 * of them it runs in, from 0. */
typedef void threads_fn(void *ctx, int thread, size_t i);
struct threads *threads_new(int threads); /* 0: as many as processors; NULL without memory */
int threads_size(const struct threads *c);
void threads_run(struct threads *c, size_t n, threads_fn *fn, void *ctx);
void threads_free(struct threads *c);

/* Decoding of stored chunks: chunk.c.  NULL if the filters are others than those
 * known there, or without memory. */
struct decoding;
struct decoding *decoding_new(hid_t dcpl, size_t element, size_t size, int threads);
void decoding_free(struct decoding *g);
/* DECODE_WHOLE: the chunk's elements are in out, of `size` bytes.  DECODE_UNKNOWN leaves it to
 * HDF5.  DECODE_SHORT: it holds less than a chunk; HDF5 would fill up with what lies behind it
 * in memory. */
enum { DECODE_UNKNOWN, DECODE_WHOLE, DECODE_SHORT };
int decode_chunk(struct decoding *g, int thread, const uint8_t *raw, size_t size, unsigned skipped,
                 uint8_t *out);

/* A chunk as it is stored: measure.c. */
struct stored {
    uint8_t *bytes;
    size_t room, size;
    unsigned skipped;
    int there;
    int excess;     /* more bytes than any chunk takes: not to be read */
    int good;       /* its bytes are read; then: DECODE_... */
    struct box box; /* where its elements belong: start and count */
};
/* HDF5 reads the bytes of the chunk at c->box; a chunk that is not stored is not there. */
int stored_read(struct job *j, hid_t dset, size_t chunk_size, struct stored *c);

/* Tells whether the chunks of a dataset may be read through HDF5, which fills up those that
 * are short with what lies behind them in memory.  NULL without memory; dset and dcpl remain
 * the caller's. */
struct measure;
struct measure *measure_new(struct job *j, hid_t dset, hid_t dcpl, int rank, const hsize_t *chunk);
void measure_free(struct measure *m);
/* True if HDF5 may read all chunks that the box touches.  Else j->why says why not, if `say`. */
int measure_box(struct measure *m, const struct box *block, int say);
/* The same of all chunks of a dataset, which is measured once in a job: 0, or an error. */
int measure_all(struct job *j, hid_t dset, hid_t dcpl);

/* Where the elements of a dataset come from, if from other files: virtual.c. */
struct absent {
    int64_t elements;
    char *why;
};
struct origins {
    struct absent *absent; /* what the dataset lacks */
    size_t n, room;
};
/* Follows virtual and raw storage to its files.  An error, with j->why, forbids reading the
 * dataset; origins_release() is due in any case. */
int origins_trace(struct job *j, const struct source *s, struct origins *out);
void origins_release(struct origins *o);

/* The properties of a dataset, after making sure that HDF5 reads them without harm:
 * header.c.  -1 with j->why if the dataset is damaged; nothing of it is to be read then. */
hid_t dataset_plist(struct job *j, hid_t dset);
/* The object header at a place of a file: its version, 0 if there is none; bytes of its fill
 * value and of an element, UINT64_MAX where it does not say. */
int header_sizes(int fd, uint64_t at, size_t address_size, uint64_t *fill, uint64_t *type);
/* Whether all elements of a dataset without chunks are stored; HDF5 takes that for granted. */
int dataset_check_storage(struct job *j, hid_t dset, hid_t dcpl);
/* Bytes of an element as the file has it; 0 if that is not known. */
size_t dataset_element(hid_t dset);

int import_data(struct job *j, const struct object *o, struct source *s, struct remarks *r);
int import_all(struct job *j);
/* Whether HDF5 knows the class of a user's link, or can be made to. */
int user_class(int cls);
/* The circles that import has kept, as links with ids for targets; for free(), their
 * names too. */
int circles_read(struct job *j, const char *path, struct odd_link **links, size_t *n);

/* ---------------------------------------------------------------- the way out */

/* One dataset of the container on its way out. */
struct drain {
    char *path; /* in the container */
    drep_dataset *ds;
    drep_dsinfo info;
    struct remarks remarks, notes; /* of the object; of its datatype */
    hid_t file;                    /* its datatype in HDF5 */
    struct map map;
};
int drain_open(struct job *j, const struct object *o, struct drain *out);
void drain_close(struct drain *d);
/* The fill value as what is held; its variable parts for drep_vlen_free(). */
int drain_fill(struct job *j, const struct drain *s, void *held);

int has_references(const struct map *m);
hid_t type_out(struct job *j, const struct object *o, const drep_type *type, uint64_t shared,
               const struct remarks *notes, int named);
int ref_out(struct move *mv, int region, void *h, drep_ref *d);
/* These write or, while the file is read back (j->back), compare. */
int export_data(struct job *j, const struct object *o);
int export_all(struct job *j);
int export_back(struct job *j);

/* Reading back: verify.c. */
int verify_all(struct job *j, const void *user_block, size_t size);
/* Where compared elements stand. */
struct verified {
    const char *path;
    const char *what; /* "" or "attribute " and the like */
    const char *name; /* of the attribute */
    int rank;
    const int64_t *start, *count; /* of the box; start NULL: zeros */
};
/* Compares n elements that HDF5 gave, in its memory, with ours; DREP_ERR_CONVERSION with a
 * message if they differ.  Puts ours the way that HDF5 has references. */
int verify_elements(struct job *j, const struct verified *at, const struct map *m, size_t n,
                    void *ours, const void *theirs);
int verify_type(struct job *j, const struct verified *at, hid_t made, hid_t read);
int verify_shape(struct job *j, const struct verified *at, const int64_t *dims, hid_t space);
/* Compares the bytes of an attribute that export made by itself. */
int verify_made(struct job *j, hid_t object, const struct verified *at, hid_t mem,
                const void *value, size_t n);
int verify_failed(struct job *j, const struct verified *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
