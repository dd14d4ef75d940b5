/* address.h - addresses that a stranger's URL must not reach. */
/* SPDX-License-Identifier: MIT */
#ifndef REMOTE_ADDRESS_H
#define REMOTE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* True for loopback, private, link-local, shared, multicast and reserved addresses, also where an
 * IPv6 address has such an IPv4 address in it, and for everything that is neither IPv4 nor IPv6. */
bool address_private(const struct sockaddr *address);

#endif
