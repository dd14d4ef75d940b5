/* node.c - the entries of a node of the tree. */
#include "format/block.h"

size_t entry_size(size_t suffix_len, size_t value_len)
{
    return 4 + suffix_len + value_len;
}
