/* plugin_no_init.c - a shared object that is no plugin. */
/* SPDX-License-Identifier: MIT */
int not_a_plugin(void);

int not_a_plugin(void)
{
    return 0;
}
