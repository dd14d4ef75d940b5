/* reload.c - a reader moves to another commit: header and datasets. */
/* SPDX-License-Identifier: MIT */
#include "whole/reload.h"

#include "elem/dataset.h"

int file_reload(drep_file *f)
{
    drep_file *reloaded = NULL;
    int err = header_reload(f, &reloaded);

    if (!err)
        err = datasets_refresh(f);
    if (!err) {
        header_exchange(f, reloaded);
        hints_note(f);
    }
    header_reload_free(reloaded);
    return err;
}
