/* hdf5.h - what the command and its HDF5 module say to each other.
 *
 * The module is the shared object datarep-hdf5.so (tools/hdf5.c), loaded only by the
 * subcommands import and export, so that nothing else pays for HDF5.  It finds drep_*
 * in the executable that loads it, and opens and closes both files itself. */
#ifndef TOOLS_HDF5_H
#define TOOLS_HDF5_H

/* Grows with the structs below: the command refuses a module that answers another. */
#define DATAREP_HDF5_INTERFACE 1

/* One thing to say about the object at `path` ("" for the file as a whole).  The
 * command prints it on stderr as `datarep: FILE: PATH: message`. */
typedef void hdf5_say_fn(void *ctx, const char *path, const char *message);

struct hdf5_options {
    const char *src;
    const char *dst;
    const char *root;    /* the group of the source to begin at, NULL: "/" */
    const char *datarep; /* import: of the new file; never NULL */
    int range;           /* DREP_RANGE_...: values that the target cannot hold */
    int verbose;         /* 0: silent, 1: a line an object through `note` */
    int excl;            /* 1: fail if dst exists */
    /* Something could not be carried over; it is left out (or changed, as the message
     * says) and the rest goes on.  The command counts the calls: any makes its exit
     * status 1. */
    hdf5_say_fn *warn;
    hdf5_say_fn *note;  /* verbose: what is being done */
    hdf5_say_fn *error; /* why a function below fails; called once before it returns */
    void *ctx;          /* first argument of the three */
};

/* What the module exports.  Both give 0 or a DREP_ERR_... code; on failure no
 * half-made destination stays behind. */
int datarep_hdf5_import(const struct hdf5_options *options);
int datarep_hdf5_export(const struct hdf5_options *options);
/* DATAREP_HDF5_INTERFACE as the module was compiled. */
int datarep_hdf5_interface(void);
/* "HDF5 1.10.8", for --version. */
const char *datarep_hdf5_version(void);

#endif
