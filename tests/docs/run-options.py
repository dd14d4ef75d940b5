#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run-options.py - values that the library does not know are refused, whoever takes them.

The structs of options, the calls that take them and the arguments that are one of an enumeration's
values come from the headers.  Each member and each argument needs a row here: the enumeration whose
values it has, its bounds, or why it has none.  A program made from these rows gives every call the
values that are just outside, 99 and -1, and all that are inside.
"""
import os
import re
import subprocess
import sys

SRC = os.environ.get('SRCDIR', '.')
TMP = os.environ.get('TMPDIR', '/tmp')
LIB = os.path.join(os.environ.get('BUILDDIR', 'build'), 'release')
INT_MAX = 2**31 - 1
number = 0

# Elements of arrays that callers fill; the structs that begin with their size are found by macro.
ELEMENTS = ['drep_filter', 'drep_scalar', 'drep_encoding', 'drep_item']

# Of each integer member: an enumeration's name, (least, greatest), or a text why it has neither.
MEMBERS = {
    'drep_xfer.range': 'drep_range_mode',
    'drep_xfer.threads': (0, INT_MAX),
    'drep_xfer.buf_size': 'any size',
    'drep_xfer.members': 'DREP_MEMBERS_FILL',
    'drep_xfer.collective': (0, 1),
    'drep_copying.range': 'drep_range_mode',
    'drep_copying.threads': (0, INT_MAX),
    'drep_copying.external': (0, 1),
    'drep_copying.emptied': 'any id',
    'drep_spec.rank': (-1, 32),
    'drep_spec.layout': 'drep_layout',
    'drep_spec.nfilters': (0, 32),
    'drep_spec.fill': 'drep_fill',
    'drep_spec.placed': (0, 1),
    'drep_driver.round_trip': 'any cost',
    'drep_driver.first_read': 'any size',
    'drep_transport.rank': (0, 0),
    'drep_transport.ranks': (1, INT_MAX),
    'drep_transport.timeout_ns': (0, INT_MAX),
    'drep_filter.id': 'drep_filter_id',
    'drep_filter.level': (-1, 12),
    'drep_filter.nparams': (0, 255),
    'drep_scalar.cls': 'drep_scalar_class',
    'drep_scalar.order': 'drep_byte_order',
    'drep_scalar.size': (1, 32),
    'drep_scalar.is_signed': (0, 1),
    'drep_scalar.format': 'drep_format',
    'drep_scalar.norm': 'drep_norm',
    'drep_scalar.low_pad': (0, 2),
    'drep_scalar.high_pad': (0, 2),
    'drep_scalar.precision': 'positions: test_container.c has them',
    'drep_scalar.offset': 'a position',
    'drep_scalar.sign_pos': 'a position',
    'drep_scalar.exp_pos': 'a position',
    'drep_scalar.exp_width': 'a position',
    'drep_scalar.mant_pos': 'a position',
    'drep_scalar.mant_width': 'a position',
    'drep_scalar.exp_base_log2': (1, 4),
    'drep_scalar.exp_bias': 'any bias',
    'drep_encoding.code': 'drep_code',
    'drep_encoding.format': 'drep_format',
    'drep_encoding.order': 'drep_byte_order',
    'drep_encoding.size': (0, 16),
    'drep_encoding.align': (0, 16),
    'drep_encoding.custom': 'counts for DREP_FORMAT_CUSTOM alone',
    'drep_encoding.reserved': (0, 0),
    'drep_item.buf_size': 'any size',
    'drep_item.err': 'a result',
}
# Values inside that contradict the rest of the struct below, and those that only mean something
# with other members.
CONTRADICTS = {
    'drep_spec.layout': {1, 2},      # neither has filters
    'drep_spec.fill': {1},           # without a fill_value
    'drep_spec.nfilters': {0, 32},   # there is one filter
    'drep_spec.rank': {-1, 32},      # there is one dimension
    'drep_transport.ranks': {INT_MAX},  # nobody answers
    'drep_filter.id': None,          # each needs parameters of its own: test_filter.c
    'drep_filter.nparams': {255},
    'drep_scalar.cls': {1, 3},
    'drep_scalar.exp_base_log2': {2, 3, 4},  # 4: with another norm
    'drep_scalar.size': {1, 32},
    'drep_scalar.format': None,      # each has a size of its own
    'drep_encoding.format': None,
    'drep_encoding.code': None,      # each has a class of its own
    'drep_encoding.size': {16},
}
# Arguments that are one of an enumeration's values, or its bits.
ARGUMENTS = {
    'order': 'drep_list_order', 'pad': 'drep_pad', 'what': 'drep_ref_what', 'amode': 'drep_amode',
    'drep_type_subarray.order': 'drep_array_order', 'drep_type_darray.order': 'drep_array_order',
    'drep_type_darray.distribs': 'drep_distribution',
    'drep_register_datarep_flags.flags': 'drep_rep_flags',
    'drep_register_filter.flags': 'drep_filter_flags', 'drep_dataset_map.flags': 'drep_map_flags',
    'drep_write_stored.flags': 'drep_stored_flags', 'drep_write_external.flags': 'drep_stored_flags',
}
# Numbers, and truth values, of which 0 alone is no.
PLAIN = '''err code format i id fd number sequence nprocs proc rank precision range n max room nrows
nscalars dim skipped parents deep unlimited'''.split()
BITS = {'drep_amode', 'drep_rep_flags', 'drep_filter_flags', 'drep_map_flags', 'drep_stored_flags'}
# Enumerations that no option and no argument has.
RESULTS = {'drep_err', 'drep_kind', 'drep_objkind', 'drep_linkkind'}

# How each call is made: o is the struct, v the argument.
CALLS = {
    'drep_read': 'return drep_read(ds, NULL, DREP_INT, buf, o);',
    'drep_write': 'return drep_write(ds, NULL, DREP_INT, buf, o);',
    'drep_read_box': 'return drep_read_box(ds, NULL, NULL, DREP_INT, buf, o);',
    'drep_write_box': 'return drep_write_box(ds, NULL, NULL, DREP_INT, buf, o);',
    'drep_append': 'drep_commit(f); return drep_append(ds, 0, 0, DREP_INT, buf, o);',
    'drep_readv': 'drep_item item = {.path = "d", .buf = buf}; return drep_readv(f, &item, 1, o);',
    'drep_convert': 'return drep_convert(DREP_LONG, other, DREP_INT, buf, 3, o);',
    'drep_pack_xfer': 'int64_t at = 0; return drep_pack_xfer("external32", buf, 3, DREP_INT, other,'
                      ' sizeof other, &at, o);',
    'drep_unpack_xfer': 'int64_t at = 0; return drep_unpack_xfer("external32", other, sizeof other,'
                        ' &at, buf, 3, DREP_INT, o);',
    'drep_read_at': 'return drep_read_at(view, 0, buf, 1, DREP_INT, o, NULL);',
    'drep_write_at': 'return drep_write_at(view, 0, buf, 1, DREP_INT, o, NULL);',
    'drep_copy': 'return drep_copy(f, "d", f, fresh(), o);',
    'drep_dataset_create': 'return drep_dataset_create(f, fresh(), o, NULL);',
    'drep_copying.plan': 'plan = *o; return drep_copy(f, "d", f, fresh(), '
                         '&DREP_COPYING(.plan = do_plan));',
    'drep_spec.filters': 'drep_spec s = spec; s.filters = o; '
                         'return drep_dataset_create(f, fresh(), &s, NULL);',
    'drep_open_driver': 'return refused(drep_open_driver(o, NULL, NULL, DREP_RDONLY, NULL, &g));',
    'drep_create_driver': 'return refused(drep_create_driver(o, NULL, NULL, "native", NULL, &g));',
    'drep_team_create': 'int err = drep_team_create(o, NULL, ":memory:", DREP_RDWR, NULL, NULL, &g)'
                        '; if (!err) drep_abandon(g); return err;',
    'drep_team_open': 'int err = drep_team_open(o, NULL, path, DREP_RDONLY, NULL, &g); '
                      'if (!err) drep_close(g); return err;',
    'drep_type_scalar': 'return made(drep_type_scalar(o, &type));',
    'drep_declare_datarep(scalars)': 'const drep_encoding row = {DREP_CODE_FLOAT, '
        'DREP_FORMAT_CUSTOM, o->order, o->size, 1, 0, 0}; return drep_declare_datarep(fresh(), '
        '"external32", &row, 1, o, 1);',
    'drep_declare_datarep': 'return drep_declare_datarep(fresh(), "external32", o, 1, NULL, 0);',
    'drep_type_subarray.order': 'const int64_t one = 1, zero = 0; return made(drep_type_subarray(1,'
                                ' &one, &one, &zero, v, DREP_INT, &type));',
    'drep_type_darray.order': 'return darray(v, DREP_DISTRIBUTE_BLOCK);',
    'drep_type_darray.distribs': 'return darray(DREP_ORDER_C, v);',
    'drep_type_string.pad': 'return made(drep_type_string(4, v, &type));',
    'drep_type_reference.what': 'return made(drep_type_reference(v, &type));',
    'drep_register_datarep_flags.flags': 'return drep_register_datarep_flags(fresh(), NULL, NULL, '
                                         'extent, NULL, (unsigned)v);',
    'drep_register_filter.flags': 'return drep_register_filter(fresh(), NULL, decode, NULL, '
                                  '(unsigned)v);',
    'drep_dataset_map.flags': 'const void *p; size_t n; return drep_dataset_map(plain, (unsigned)v,'
                              ' &p, &n);',
    'drep_write_stored.flags': 'drep_dataset *d; const int64_t n = 4, at = 0; const drep_filter z = {.id = '
                               'DREP_FILTER_DEFLATE}; int err = drep_dataset_create(f, fresh(), &DREP_SPEC(.type = '
                               'DREP_INT, .rank = 1, .dims = &n, .chunk = &n, .filters = &z, .nfilters = 1), &d); '
                               'if (!err) { err = drep_write_stored(d, &at, "abc", 3, 0, (unsigned)v); '
                               'drep_dataset_close(d); } return err;',
    'drep_write_external.flags': 'const int64_t at = 0; return refused(drep_write_external(plain, &at, 1, 0, 4, 0, '
                                 '(unsigned)v));',
    'drep_list.order': 'return drep_list(f, "/", v, on_link, NULL);',
    'drep_visit.order': 'return drep_visit(f, "/", v, on_object, NULL);',
    'drep_dimension_list.order': 'return drep_dimension_list(f, "/", v, on_dimension, NULL);',
    'drep_attr_list.order': 'return drep_attr_list(f, "/", v, on_attr, NULL);',
    'drep_create.amode': 'return closed(drep_create(":memory:", v, NULL, NULL, &g));',
    'drep_create_like.amode': 'return closed(drep_create_like(":memory:", v, f, NULL, &g));',
    'drep_open.amode': 'return closed(drep_open(path, v, NULL, &g));',
    'drep_open_commit.amode': 'return closed(drep_open_commit(path, v, 0, NULL, &g));',
    'drep_open_driver.amode': 'return refused(drep_open_driver(&DREP_DRIVER(.read_many = no_read, '
                              '.file_size = no_size, .write_at = no_write, .truncate = '
                              'no_truncate), NULL, NULL, v, NULL, &g));',
    'drep_view_raw.amode': 'drep_view *w; int err = drep_view_raw(raw, v, NULL, &w); '
                           'if (!err) drep_view_close(w); unlink(raw); return err;',
    'drep_view_driver': 'drep_view *w; int err = drep_view_driver(o, NULL, NULL, DREP_RDONLY, NULL, &w); '
                        'if (!err) drep_view_close(w); return err;',
    'drep_view_driver.amode': 'drep_view *w; int err = drep_view_driver(&DREP_DRIVER(.read_many = no_read, '
                              '.file_size = no_size, .write_at = no_write), NULL, NULL, v, NULL, &w); '
                              'if (!err) drep_view_close(w); return err;',
    'drep_view_descriptor.amode': 'drep_view *w; FILE *file = fopen(raw, "w+"); '
                                  'int err = drep_view_descriptor(fileno(file), NULL, v, NULL, &w); '
                                  'if (!err) drep_view_close(w); fclose(file); unlink(raw); return err;',
    'drep_repair.amode': 'unlink(raw); return drep_repair(path, raw, v, NULL, on_finding, NULL, '
                         'NULL);',
    'drep_team_create.amode': 'return closed(drep_team_create(&team, NULL, ":memory:", v, NULL, '
                              'NULL, &g));',
    'drep_team_open.amode': 'return closed(drep_team_open(&team, NULL, path, v, NULL, &g));',
}
# The access modes that each call has.
MODES = {'drep_open': {1, 2, 9}, 'drep_open_commit': {1, 9}, 'drep_open_driver': {1, 2, 9},
         'drep_team_open': {1, 2, 9}, 'drep_create': {0, 2, 4, 6}, 'drep_create_like': {0, 2, 4, 6},
         'drep_team_create': {0, 2, 4, 6}, 'drep_view_raw': {2, 6},
         'drep_view_driver': {1, 2}, 'drep_view_descriptor': {1, 2}, 'drep_repair': {0, 2, 4, 6}}
GOOD = {
    'drep_xfer': 'DREP_XFER(.threads = 1)',
    'drep_copying': 'DREP_COPYING(.threads = 1)',
    'drep_spec': 'spec',
    'drep_driver': 'DREP_DRIVER(.read_many = no_read, .file_size = no_size, .write_at = no_write, '
                   '.truncate = no_truncate)',
    'drep_transport': 'team',
    'drep_filter': '{.id = DREP_FILTER_DEFLATE}',
    'drep_scalar': '{DREP_SCALAR_REAL, DREP_LITTLE, 4, 1, DREP_FORMAT_CUSTOM, DREP_NORM_IMPLIED, 0,'
                   ' 0, 32, 0, 31, 23, 8, 0, 23, 1, 127}',
    'drep_encoding': '{DREP_CODE_INT, DREP_FORMAT_INT, DREP_LITTLE, 4, 4, 0, 0}',
}
MORE_ENTRIES = {'drep_spec': ['drep_copying.plan'], 'drep_filter': ['drep_spec.filters'],
                'drep_scalar': ['drep_declare_datarep(scalars)']}
NO_ENTRY = {('drep_scalar', 'drep_declare_datarep')}  # it has a name of its own above
NOT_TAKEN = {('drep_copying.plan', 'rank')}

FRONT = r'''
#include <datarep-team.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static drep_file *f, *g;
static drep_dataset *ds, *plain;
static drep_view *view;
static drep_type *type;
static drep_spec spec, plan;
static int buf[64], other[64];
static const char *path, *raw;
static int made(int err) { if (!err) drep_type_free(type); return err; }
static int closed(int err) { if (!err) drep_abandon(g); return err; }
/* A driver without a file behind it is taken if that is all that is wrong. */
static int refused(int err) { return err == DREP_ERR_ARG || err == DREP_ERR_AMODE ? err : 0; }
static const char *fresh(void)
{
    static char name[16];
    static int n;
    snprintf(name, sizeof name, "new%d", n++);
    return name;
}
static int do_plan(uint64_t id, drep_spec *s, void *ctx)
{
    (void)id, (void)ctx;
    s->layout = plan.layout, s->nfilters = plan.nfilters, s->filters = plan.filters;
    s->chunk = NULL, s->placed = plan.placed, s->fill = plan.fill;
    return 0;
}
static int darray(int order, int distrib)
{
    const int64_t gsize = 4, darg = DREP_DISTRIBUTE_DFLT_DARG;
    const int psize = 1;
    return made(drep_type_darray(1, 0, 1, &gsize, &distrib, &darg, &psize, order, DREP_INT, &type));
}
static int extent(const drep_type *t, int64_t *e, void *s) { (void)t, (void)s; *e = 4; return 0; }
static int decode(const uint32_t *p, int n, const void *in, size_t size, void *out, size_t *room,
                  void *s)
{
    (void)p, (void)n, (void)in, (void)size, (void)out, (void)room, (void)s;
    return 1;
}
static int no_read(void *s, const drep_range *r, size_t n) { (void)s, (void)r; return n ? 14 : 0; }
static int no_size(void *s, uint64_t *size) { (void)s; *size = 0; return 0; }
static int no_write(void *s, const void *p, size_t n, uint64_t at)
{
    (void)s, (void)p, (void)n, (void)at;
    return 3;
}
static int no_truncate(void *s, uint64_t size) { (void)s, (void)size; return 3; }
static int on_link(const drep_linkinfo *l, void *c) { (void)l, (void)c; return 0; }
static int on_object(const drep_visited *o, void *c) { (void)o, (void)c; return 0; }
static int on_dimension(const drep_diminfo *d, void *c) { (void)d, (void)c; return 0; }
static int on_attr(const char *n, void *c) { (void)n, (void)c; return 0; }
static int on_finding(int e, uint64_t at, const char *m, void *c)
{
    (void)e, (void)at, (void)m, (void)c;
    return 0;
}
static int send_(void *c, int to, drep_message *m) { (void)c, (void)to, drep_message_free(m); return 0; }
static int receive_(void *c, drep_message **m, int64_t at)
{
    (void)c, (void)m, (void)at;
    return DREP_ERR_TIMEOUT;
}
static drep_transport team = {.size = sizeof team, .ranks = 1, .send = send_, .receive = receive_};
#define OK(call) do if (call) { printf("%s: %s\n", #call, drep_error()); return 1; } while (0)
'''
SETUP = r'''
static int setup(void)
{
    static const int64_t dims = 3, most = DREP_UNLIMITED;
    static const drep_filter deflate = {.id = DREP_FILTER_DEFLATE};
    drep_file *disk;

    OK(drep_create(path, DREP_RDWR, NULL, NULL, &disk));
    OK(drep_close(disk));
    OK(drep_create(":memory:", DREP_RDWR, "external32", NULL, &f));
    spec = DREP_SPEC(.type = DREP_INT, .rank = 1, .dims = &dims, .maxdims = &most);
    OK(drep_dataset_create(f, "d", &spec, &ds));
    OK(drep_write(ds, NULL, DREP_INT, buf, NULL));
    OK(drep_view_dataset(ds, &view));
    OK(drep_dataset_create(f, "plain", &DREP_SPEC(.type = DREP_BYTE, .rank = 1, .dims = &dims,
                           .layout = DREP_CONTIGUOUS), &plain));
    OK(drep_write(plain, NULL, DREP_BYTE, buf, NULL));
    spec.maxdims = NULL, spec.filters = &deflate, spec.nfilters = 1;
    return 0;
}
'''


def result(good, name, log=''):
    global number
    number += 1
    print(f'{"ok" if good else "not ok"} {number} - {name}')
    if not good:
        print(''.join('# ' + line + '\n' for line in log.splitlines()[:40]), end='')
    return good


def header():
    text = ''
    for name in ('datarep.h', 'datarep-team.h'):
        with open(os.path.join(SRC, 'lib', name), encoding='utf-8') as file:
            text += re.sub(r'/\*.*?\*/', '', file.read(), flags=re.S)
    return text


def enumerations(text):
    """{name: {enumerator: value}}; one without a name by its last enumerator."""
    found = {}
    for name, body in re.findall(r'\benum\s*(\w*)\s*\{(.*?)\}', text, re.S):
        values, last = {}, -1
        for item in filter(None, map(str.strip, body.split(','))):
            word, _, value = map(str.strip, item.partition('='))
            last = int(value, 0) if value else last + 1
            values[word] = last
        found[name or list(values)[-1]] = values
    return found


def members(text, struct):
    body = re.search(r'typedef struct ' + struct + r' \{(.*?)\n\} ' + struct + ';', text, re.S)[1]
    for kind, names in re.findall(r'^\s*((?:unsigned |u?int\d*(?:_t)? |size_t )+)([\w, ]+);', body,
                                  re.M):
        for name in names.split(','):
            if name.strip() != 'size' or kind.strip() != 'size_t':
                yield name.strip(), kind.strip()


def prototypes(text):
    for name, params in re.findall(r'DREP_API\s+[^;{]*?\b(drep_\w+)\(([^;]*)\);', text, re.S):
        yield name, [p.strip() for p in ' '.join(params.split()).split(',')]


def bounds(rule, enums):
    """The values inside and those outside that are tried."""
    if isinstance(rule, tuple):
        low, high = rule
        return {low, high}, {v for v in (low - 1, high + 1, 99, -1)
                             if not low <= v <= high and abs(v) <= INT_MAX}
    inside = set(enums[rule].values())
    if rule in BITS:
        both = 0
        for v in inside:
            both |= v
        return inside | {0}, {both + 1, both + 98, -1}
    return inside, {v for v in (min(inside) - 1, max(inside) + 1, 99, -1) if v not in inside}


def narrow(values, kind):
    """Of a member of 8 bits -1 is 255; 16 bits likewise."""
    bits = {'uint8_t': 8, 'uint16_t': 16}.get(kind)
    return {v % (1 << bits) for v in values} if bits else values


def struct_rows(text, enums):
    """(entry, struct, member, value, is it inside?)"""
    sized = re.findall(r'#define DREP_\w+\(\.\.\.\) DREP_SIZED\((drep_\w+), __VA_ARGS__\)', text)
    unknown, rows, used = [], [], set()
    for struct in sized + ELEMENTS:
        entries = [name for name, params in prototypes(text)
                   if any(re.match(r'const ' + struct + r' \*\w+$', p) for p in params)
                   and (struct, name) not in NO_ENTRY] + MORE_ENTRIES.get(struct, [])
        for member, kind in members(text, struct):
            name = f'{struct}.{member}'
            rule = MEMBERS.get(name)
            used.add(name)
            if rule is None:
                unknown.append(name)
                continue
            if isinstance(rule, str) and rule not in enums:
                continue
            if not entries:
                unknown.append(f'{struct}: no call takes it')
            inside, outside = bounds(rule, enums)
            inside, outside = narrow(inside, kind), narrow(outside, kind)
            if name in CONTRADICTS:
                inside -= CONTRADICTS[name] or inside
            rows += [(e, struct, member, v, True) for e in entries for v in sorted(inside)]
            rows += [(e, struct, member, v, False) for e in entries
                     for v in sorted(outside - inside - narrow(set(enums.get(rule, {}).values())
                                     if isinstance(rule, str) else set(), kind))]
    rows = [row for row in rows if (row[0], row[2]) not in NOT_TAKEN]
    return unknown + [f'{m}: no such member' for m in MEMBERS if m not in used], rows


def argument_rows(text, enums):
    unknown, rows, named = [], [], set(RESULTS)
    for name, params in prototypes(text):
        for param in params:
            match = re.match(r'(?:int|unsigned|uint\d+_t|const int \*)\s*(\w+)$', param)
            if not match:
                continue
            word = match[1]
            own = f'{name}.{word}'
            rule = ARGUMENTS.get(own, ARGUMENTS.get(word))
            if not rule and word not in PLAIN and '*' not in param:
                unknown.append(own)
            if not rule:
                continue
            named.add(rule)
            inside, outside = bounds(rule, enums)
            if word == 'amode':
                inside = MODES[name]
                outside = set(range(-1, 17)) - MODES[name]
                outside -= {1} if name == 'drep_view_raw' else set()  # there is no file to read
            rows += [(own, None, word, v, True) for v in sorted(inside)]
            rows += [(own, None, word, v, False) for v in sorted(outside)]
    named |= {rule for rule in MEMBERS.values() if isinstance(rule, str)}
    return unknown + [f'enum {e}: nothing has it' for e in enums if e not in named], rows


def program(rows):
    text = FRONT + SETUP
    for i, (entry, struct) in enumerate(sorted({(r[0], r[1] or '') for r in rows})):
        arg = f'const {struct} *o' if struct else 'int v'
        text += f'static int call_{re.sub(chr(92) + "W", "_", entry)}_{struct}({arg})\n' \
                f'{{ {CALLS[entry]} }}\n'
    text += 'int main(int argc, char **argv)\n{\n    int err;\n    (void)argc;\n' \
            '    path = argv[1], raw = argv[2];\n    if (setup()) return 1;\n'
    for n, (entry, struct, member, value, inside) in enumerate(rows):
        call = f'call_{re.sub(chr(92) + "W", "_", entry)}_{struct or ""}'
        if struct:
            good = GOOD[struct]
            text += f'    {{ {struct} o = {good}; o.{member} = {value}; err = {call}(&o); }}\n'
        else:
            text += f'    err = {call}({value});\n'
        text += f'    printf("{n} %d %s\\n", err, err ? drep_error() : "");\n'
    return text + '    return 0;\n}\n'


def run(rows):
    source, binary = os.path.join(TMP, 'options.c'), os.path.join(TMP, 'options')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(program(rows))
    built = subprocess.run(['gcc', '-std=c11', '-D_GNU_SOURCE', '-I' + os.path.join(SRC, 'lib'),
                            source, '-o', binary, '-L' + LIB, '-ldatarep'], capture_output=True,
                           text=True)
    if built.returncode != 0:
        return None, built.stderr
    done = subprocess.run([binary, os.path.join(TMP, 'disk.drep'), os.path.join(TMP, 'raw')],
                          capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, LD_LIBRARY_PATH=LIB))
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != len(rows):
        return None, f'status {done.returncode}\n{done.stdout[-2000:]}{done.stderr}'
    return [(int(line.split(' ')[1]), line.split(' ', 2)[2]) for line in lines], ''


def judge(row, answer):
    """Nothing, or what is wrong with the answer."""
    entry, struct, member, value, inside = row
    err, message = answer
    what = f'{entry}: {struct + "." if struct else ""}{member} {value}'
    if inside:
        return f'{what} is refused: {err} {message}' if err else None
    if err == 0:
        return f'{what} is taken'
    if struct and struct not in ('drep_scalar', 'drep_encoding', 'drep_filter') and \
            member not in ('rank',) and (err != 1 or f'{struct}.{member} {value}' not in message):
        return f'{what}: {err} "{message}" does not name it'
    if not struct and member == 'order' and 'type' not in entry and \
            (err != 1 or f'order {value}' not in message):
        return f'{what}: {err} "{message}" does not name it'
    return None


def main():
    text = header()
    enums = enumerations(text)
    unknown, rows = struct_rows(text, enums)
    result(not unknown, 'every member of options has a rule', '\n'.join(unknown))
    unknown, more = argument_rows(text, enums)
    result(not unknown, 'every argument has a rule, every enumeration a use', '\n'.join(unknown))
    answers, log = run(rows + more)
    if not result(answers is not None, 'the program runs', log):
        print(f'1..{number}')
        return 1
    for name, some in (('options', rows), ('arguments', more)):
        base = 0 if some is rows else len(rows)
        bad = [judge(row, answers[base + i]) for i, row in enumerate(some)]
        result(not any(bad), f'{name}: known values are taken, others refused',
               '\n'.join(filter(None, bad)))
    print(f'counted: {len(rows) + len(more)} values given to calls')
    print(f'1..{number}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
