/* inline.h - inline functions are part of who calls them: they are not counted. */
#define inline inline __attribute__((no_instrument_function))
