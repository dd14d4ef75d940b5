/* module.c - what datarep-http.so shows to the library, which loads it for the first URL. */
/* SPDX-License-Identifier: MIT */
#include "remote/read.h"
#include "remote/upload.h"
#include <curl/curl.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN int datarep_http_interface(void);
SHOWN int datarep_http_read(const char *url, int by_file, const drep_info *hints,
                            drep_driver *driver, void **state);
SHOWN int datarep_http_upload(const char *url, int excl, const drep_info *hints,
                              drep_driver *driver, void **state);

/* The version of what is declared here; lib/io/url.c says what it is.  0: libcurl cannot be used.
 */
int datarep_http_interface(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 1 : 0;
}

int datarep_http_read(const char *url, int by_file, const drep_info *hints, drep_driver *driver,
                      void **state)
{
    struct why why = {0};

    remote_open(url, by_file, hints, driver, state, &why);
    return why_raise(&why);
}

int datarep_http_upload(const char *url, int excl, const drep_info *hints, drep_driver *driver,
                        void **state)
{
    struct why why = {0};

    upload_open(url, excl, hints, driver, state, &why);
    return why_raise(&why);
}
