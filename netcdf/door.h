/* door.h - Datarep files behind netCDF-C's functions, and what the files of this room share.
 *
 * libnetcdf calls a table of 77 functions (NC_Dispatch) for each file of a user-defined format.
 * This room fills that table by <datarep.h> alone; it links no symbol of libnetcdf, which the
 * process has or has not (enter.c finds it).
 *
 * An open file is a model in memory: groups, dimensions, variables, user-defined types and the
 * names of attributes, in netCDF's order.  An ncid is `file << 16 | group`; dimensions and types
 * are numbered through the file, variables in their group.  What a program defines is in the file
 * at once, except variables: netCDF gives a variable its filters, chunks, fill value and attributes
 * after its definition, and a dataset takes them when it is made.  So a variable is *pending* until
 * enddef, the first data or a sync, which make all pending variables in their order (variable.c).
 *
 * All functions return 0 or a code of netCDF; libnetcdf is not thread safe, and neither is this. */
/* SPDX-License-Identifier: MIT */
#ifndef NETCDF_DOOR_H
#define NETCDF_DOOR_H

#include <datarep.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <stdint.h>

#define NOTE_PREFIX "drep."                 /* of attributes that are a converter's notes */
#define NOTE_STRICT "drep.hdf5:_nc3_strict" /* the file keeps to the classic model */
#define NOTE_REMARKS "drep.hdf5:remarks"    /* lines, "filter 3 0 - fletcher32" among them */
#define FILL_ATTRIBUTE "_FillValue"
#define REMARK_FLETCHER32 "filter 3 0 - fletcher32"

#define NC_LENGTH_MAX ((SIZE_MAX >> 2) + 1) /* 2^62 where it fits; strides and counts do, too */
/* Results that a caller may not want are NULL. */
#define TELL(pointer, value) ((void)((pointer) ? ((*(pointer) = (value)), 0) : 0))

struct nc_attribute {
    char *name;
    nc_type type;
    size_t len;
    void *data; /* `len` elements in memory; NULL: still in the file */
};

struct nc_attributes {
    struct nc_attribute *list;
    int n, listed; /* listed: as the file has them */
};

struct nc_dimension {
    char *name;
    uint64_t id; /* 0: phony, only netCDF has it */
    size_t len;
    int unlimited, group;
};

/* A member of a compound, or a name of an enumeration. */
struct nc_member {
    char *name;
    size_t offset;
    nc_type type;
    int rank, dim[DREP_MAX_RANK];
    int64_t value;
};

struct user_type {
    char *name;
    int group, cls; /* cls: NC_COMPOUND, NC_ENUM, NC_VLEN, NC_OPAQUE */
    size_t size;    /* of an element in memory */
    nc_type base;   /* of enumerations and vlens */
    struct nc_member *members;
    int nmembers;
    drep_type *memory; /* elements as netCDF's callers have them; NULL: still being defined */
    drep_type *stored; /* the file's, by which types of datasets are recognized; may be NULL */
};

#define FILTERS_MAX 4
struct nc_filter {
    unsigned id; /* HDF5's number */
    size_t nparams;
    unsigned param[8];
};

struct nc_variable {
    char *name;
    nc_type type;
    int rank, dim[DREP_MAX_RANK];
    drep_dataset *dataset;        /* NULL: pending */
    int64_t shape[DREP_MAX_RANK]; /* of the dataset; unlimited dimensions may be longer */
    struct nc_attributes attributes;
    int storage; /* NC_CHUNKED, NC_CONTIGUOUS, NC_COMPACT; -1: ours to choose */
    int has_chunk;
    int64_t chunk[DREP_MAX_RANK];
    int shuffle, fletcher32, endian;
    struct nc_filter filter[FILTERS_MAX];
    int nfilters;
    int quantize, digits, quantize_known; /* known: attributes of the file were looked at */
    int no_fill;
    void *fill;  /* one element; NULL: netCDF's default of the type */
    int defined; /* enddef has passed: its storage is settled */
    int written; /* it has elements: its fill value is settled, too */
    size_t cache_size, cache_slots;
    float cache_preemption;
};

struct nc_group {
    char *name, *path;
    int parent; /* -1: the root */
    struct nc_variable *variables;
    int nvariables;
    struct nc_attributes attributes;
};

struct door {
    drep_file *file;
    const NC_Dispatch *table; /* of the libnetcdf that opened it */
    char *path;               /* NULL: in memory */
    int writes, created, classic, defining, no_fill;
    struct nc_group *groups;
    struct nc_dimension *dimensions;
    struct user_type *types;
    int ngroups, ndimensions, ntypes;
    void *image; /* nc_open_mem()'s */
    size_t image_size;
};

/* ------------------------------------------------------------------ errors.c */

/* The code of netCDF for one of ours; with DATAREP_DEBUG=1 it prints drep_error(). */
int door_error(int err);
/* `code`; with DATAREP_DEBUG=1 it prints the sentence, which says why. */
int door_refuse(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------- model.c */

extern struct door *door_open_files[65536];
/* NC_EBADID. */
int door_find(int ncid, struct door **door, struct nc_group **group);
int door_find_variable(int ncid, int varid, struct door **door, struct nc_variable **v);
/* Room for one more element of an array: NULL without memory, and the old one stays. */
void *door_grow(void *list, int n, size_t size);
char *door_join(const char *group, const char *name); /* the path of a member; malloc'ed */
char *door_address(const char *group, const char *dimension);
/* A name as netCDF compares it, in NFC: the text itself, or one that lives for three calls more. */
const char *door_name(const char *name);
extern int (*door_normalize)(const unsigned char *name, unsigned char **normal);
/* 0, NC_EBADNAME or NC_EMAXNAME. */
int door_check_name(const char *name);
/* NC_ENAMEINUSE: a variable, group or type of the group has the name. */
int door_check_new_name(struct door *door, int group, const char *name);
int door_add_dimension(struct door *door, const char *name, uint64_t id, size_t len, int unlimited,
                       int group);
/* Its index, -1 without memory; path is taken over. */
int door_add_group(struct door *door, const char *name, char *path, int parent);
/* A dimension of the group by its name, or -1. */
int door_find_dimension(const struct door *door, int group, const char *name);
/* A dataset has become longer or shorter; an unlimited dimension is as long as its longest. */
void door_set_length(struct door *door, struct nc_variable *v, int d, int64_t len);
/* The dimension with the file's id; -1: it is not in the model, or id is 0. */
int door_dimension_of(const struct door *door, uint64_t id);
/* The model of what the file has. */
int door_load(struct door *door);
/* Lengths anew, after drep_refresh(). */
int door_reload(struct door *door);
void door_free(struct door *door); /* not the file's handle */
void door_free_variable(struct door *door, struct nc_variable *v);

/* ------------------------------------------------------------------- types.c */

const char *type_atomic_name(nc_type type); /* NULL: not atomic */
/* The datatype in memory (borrowed), its size; NULL, 0: no such type, or still being defined. */
const drep_type *type_memory(struct door *door, nc_type type);
size_t type_bytes(struct door *door, nc_type type);
struct user_type *type_user(struct door *door, nc_type type); /* NULL: none, or atomic */
/* The type of netCDF for a file's datatype; NC_NAT: none.  A compound, enumeration, sequence or
 * opaque that has no name gets one, as `datarep export` gives it. */
nc_type type_of(struct door *door, const drep_type *type);
/* Adds a named datatype of the file. */
int type_add_named(struct door *door, int group, const char *name, const drep_type *type);
/* A new user-defined type; its index in *id. */
int type_add(struct door *door, int group, const char *name, int cls, nc_type *id);
/* Ends the definition of a type, which has its datatype in memory from then on.  Done already: 0.
 */
int type_seal(struct door *door, nc_type type);
/* 0 if elements of one type can be converted to the other, whose definition ends; NC_ECHAR,
 * NC_EBADTYPE. */
int type_check_pair(struct door *door, nc_type type, nc_type other);
/* Makes the named datatypes of all new types in the file, in their order. */
int type_settle(struct door *door);
void type_release(struct user_type *type);
/* The default fill value of an atomic type or an enumeration; NULL: zeros. */
const void *type_default_fill(struct door *door, nc_type type);
/* Copies `n` elements with all that they point to. */
int type_copy(struct door *door, nc_type type, size_t n, void *to, const void *from);

/* ---------------------------------------------------------------- variable.c */

int variable_describe(struct door *door, struct nc_variable *v); /* from its open dataset */
int variable_settle(struct door *door);                          /* makes all pending ones */
/* Takes an unwritten dataset out of the file again: what is made when it is needed. */
int variable_unmake(struct door *door, struct nc_group *group, struct nc_variable *v);
/* The fill value of a dataset as one element in memory. */
int variable_read_fill(struct door *door, struct nc_variable *v, nc_type memory, void *fill);
/* The layout that a pending variable would have. */
int variable_preview(struct door *door, struct nc_variable *v, drep_dsinfo *info);
struct nc_filter *variable_filter(struct nc_variable *v, unsigned id); /* NULL: it has none such */
int variable_filter_known(unsigned id);

/* ---------------------------------------------------------------- quantize.c */

/* NC_EINVAL: no such mode, digits out of range, or no number of floating point. */
int quantize_set(struct nc_variable *v, int mode, int digits);
/* Adds the attribute that says so to those of a pending variable. */
int quantize_note(struct nc_variable *v);
/* The mode of a variable, which a file that was opened says by an attribute. */
int quantize_mode(struct door *door, const struct nc_group *group, struct nc_variable *v);
/* Quantizes elements of the variable's type, but for those that are `fill`. */
void quantize_values(const struct nc_variable *v, const void *fill, void *values, size_t n);

/* ------------------------------------------------------------ table.c, enter.c */

/* The table of the slots for model NC_FORMATX_UDF0 or _UDF1 and a version of the table. */
void slots_fill(NC_Dispatch *table, int model, int version);
/* Registers the format in each libnetcdf of the process and gives the table for the caller's, or
 * the first: as an int 0 (32 bits: NULL).  None takes it: a table of version -1, as an int not 0.
 */
__attribute__((visibility("default"))) NC_Dispatch *datarep_netcdf_init(void);

#define SLOT(name, ...) __typeof__(*((NC_Dispatch *)0)->name) slot_##name;
#include "netcdf/slots.def"
#undef SLOT

#endif
