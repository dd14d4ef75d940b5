/* test_type_text.c - the one-line form of datatypes: there and back. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/bytes.h"
#include "tests/unit/random_type.h"

static char *print(const drep_type *t)
{
    char *text = NULL;

    ck_assert_int_eq(drep_type_print(t, &text), 0);
    return text;
}

/* Lines that are printed as they are parsed. */
START_TEST(test_lines_come_back)
{
    static const char *const lines[] = {
        "DOUBLE",
        "UINT128_T",
        "INT128_T",
        "struct{when: INT64_T, value: DOUBLE}",
        "struct{a: INT8_T, b@3: INT16_T, c: INT8_T}",
        "struct{a: INT8_T}:17",
        "struct{}",
        "struct{}:8",
        "struct{\"odd \\\"name\\\\\": INT, \"1st\": struct{_x9: CHAR[2]}}",
        "struct{\"tab\\x09\": INT}",
        "struct{\"\\xc2\\x9b31m\xc2\xa0\": INT}",
        "struct{\"\\xe2\\x80\\xae3\\xe2\\x81\\xa9\": INT}",
        "struct{\"\xc3\xa4\": INT}",
        "DOUBLE[3,4]",
        "DOUBLE[4][3]",
        "struct{a: INT}[2]",
        "string(10)",
        "string(10,nulterm)",
        "string(10,space)",
        "vstring",
        "seq(seq(DOUBLE[2]))",
        "opaque(16)",
        "opaque(16,\"tag \\\"q\\\"\")",
        "enum(INT8_T){RED=0,\"odd name\"=-1}",
        "enum(UINT64_T){ALL=18446744073709551615}",
        "enum(INT64_T){MIN=-9223372036854775808}",
        "enum(INT){}",
        "bool(INT8_T)",
        "ref(object)",
        "ref(region)",
        "scalar{custom,integer,little,3,signed=1,norm=0,pad=1/2,precision=20,offset=2,sign=0,exp=0/"
        "0,"
        "sig=0/0,base=2,bias=0}",
        ("scalar{custom,real,big,4,signed=0,norm=2,pad=0/0,precision=32,offset=0,sign=31,exp=24/7,"
         "sig=0/24,base=16,bias=64}"),
        "scalar{vax-g,vax,8}",
        "contiguous(3,INT)",
        "vector(3,1,-2,DOUBLE)",
        "hvector(3,1,16,DOUBLE)",
        "indexed([1,2],[0,5],INT)",
        "indexed([],[],INT)",
        "hindexed([1,2],[0,50],INT)",
        "indexed_block(2,[0,5],INT)",
        "indexed_block(2,[],INT)",
        "hindexed_block(2,[0,50],INT)",
        "struct([1,2],[0,8],[INT,DOUBLE])",
        "struct([1,2],[INT,DOUBLE])",
        "struct([],[],[])",
        "struct([],[])",
        "subarray([10,4],[5,2],[1,0],c,INT)",
        "subarray([10],[5],[1],fortran,INT)",
        "darray(6,4,[10,11,3],[block,cyclic,none],[-1,3,-1],[3,2,1],c,INT)",
        "resized(-8,64,DOUBLE)",
        "dup(dup(INT))",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        drep_type *t = NULL;
        char *text;

        ck_assert_msg(drep_type_parse(lines[i], &t) == 0, "%s: %s", lines[i], drep_error());
        text = print(t);
        ck_assert_str_eq(text, lines[i]);
        free(text);
        drep_type_free(t);
    }
}
END_TEST

/* NumPy's and C's names of predefined types, and what they are printed as. */
START_TEST(test_names_of_numpy_and_c)
{
    static const char *const names[][2] = {
        {"float64", "DOUBLE"},
        {"f8", "DOUBLE"},
        {"double[3]", "DOUBLE[3]"},
        {"FLOAT64", "DOUBLE"},
        {"float32", "FLOAT"},
        {"float", "FLOAT"},
        {"f4", "FLOAT"},
        {"float16", "FLOAT16"},
        {"f2", "FLOAT16"},
        {"int8", "INT8_T"},
        {"i2", "INT16_T"},
        {"int32", "INT32_T"},
        {"int64_t", "INT64_T"},
        {"u1", "UINT8_T"},
        {"uint16", "UINT16_T"},
        {"uint32", "UINT32_T"},
        {"u8", "UINT64_T"},
        {"int", "INT"},
        {"short", "SHORT"},
        {"long", "LONG"},
        {"unsigned", "UNSIGNED"},
        {"char", "CHAR"},
        {"complex64", "C_FLOAT_COMPLEX"},
        {"c16", "C_DOUBLE_COMPLEX"},
        {"struct{x: f4, int: int}", "struct{x: FLOAT, int: INT}"},
    };
    static const char *const none[] = {"float80", "i3", "double64", "f", "int128"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        drep_type *type;
        char *text;

        ck_assert_msg(drep_type_parse(names[i][0], &type) == 0, "%s: %s", names[i][0],
                      drep_error());
        ck_assert_int_eq(drep_type_print(type, &text), 0);
        ck_assert_str_eq(text, names[i][1]);
        free(text);
        drep_type_free(type);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        drep_type *type;

        ck_assert_int_eq(drep_type_parse(none[i], &type), DREP_ERR_SYNTAX);
    }
}
END_TEST

START_TEST(test_blanks_do_not_matter)
{
    drep_type *t, *same;

    ck_assert_int_eq(
        drep_type_parse("  struct { a @ 0 : INT64_T ,\n b:DOUBLE [ 2 , 3 ] } : 56 ", &t), 0);
    ck_assert_int_eq(drep_type_parse("struct{a:INT64_T,b:DOUBLE[2,3]}", &same), 0);
    ck_assert(drep_type_equal(t, same));
    drep_type_free(t);
    drep_type_free(same);
    ck_assert_int_eq(drep_type_parse("string(3,nul)", &t), 0);
    drep_type_free(t);
}
END_TEST

START_TEST(test_random_types_come_back)
{
    for (int i = 0; i < 3000; i++) {
        uint64_t seed = random_state;
        struct sample s;
        drep_type *t = NULL;
        char *text, *again;
        int err;

        random_sample(&s, 1 + i % 5);
        text = print(s.type);
        err = drep_type_parse(text, &t);
        ck_assert_msg(err == 0, "seed %llu: %s: %s", (unsigned long long)seed, text, drep_error());
        ck_assert_msg(drep_type_equal(s.type, t), "seed %llu: %s", (unsigned long long)seed, text);
        ck_assert(drep_type_equivalent(s.type, t));
        again = print(t);
        ck_assert_str_eq(text, again);
        free(text);
        free(again);
        drep_type_free(t);
        sample_release(&s);
    }
}
END_TEST

START_TEST(test_errors_name_the_column)
{
    static const struct {
        const char *line;
        int err;
        int column;
    } row[] = {
        {"", DREP_ERR_SYNTAX, 1},
        {"dubble", DREP_ERR_SYNTAX, 1},
        {"DOUBLE]", DREP_ERR_SYNTAX, 7},
        {"DOUBLE[", DREP_ERR_SYNTAX, 8},
        {"DOUBLE[x]", DREP_ERR_SYNTAX, 8},
        {"DOUBLE[]", DREP_ERR_SYNTAX, 9},
        {"DOUBLE[0]", DREP_ERR_DIMS, 10},
        {"struct{a INT}", DREP_ERR_SYNTAX, 8},
        {"struct{a: INT, a: INT}", DREP_ERR_NAME, 23},
        {"struct{a: INT", DREP_ERR_SYNTAX, 14},
        {"struct{9: INT}", DREP_ERR_SYNTAX, 8},
        {"struct{\xc3\xa4: INT}", DREP_ERR_SYNTAX, 8},
        {"struct{\"a: INT}", DREP_ERR_SYNTAX, 16},
        {"struct{\"\\q\": INT}", DREP_ERR_SYNTAX, 10},
        {"struct{\"\\x00\": INT}", DREP_ERR_SYNTAX, 10},
        {"string(0)", DREP_ERR_COUNT, 10},
        {"string(5,nil)", DREP_ERR_SYNTAX, 10},
        {"string(99999999999999999999)", DREP_ERR_SYNTAX, 27},
        {"contiguous(-1,INT)", DREP_ERR_COUNT, 18},
        {"enum(DOUBLE){}", DREP_ERR_TYPE, 15},
        {"indexed([1],[1,2],INT)", DREP_ERR_SYNTAX, 18},
        {"struct([1],[0],[INT,INT])", DREP_ERR_SYNTAX, 25},
        {"scalar{custom,integer,little,3,colour=1}", DREP_ERR_SYNTAX, 32},
        {"scalar{nothing,little,3}", DREP_ERR_SYNTAX, 8},
        {"DOUBLE DOUBLE", DREP_ERR_SYNTAX, 8},
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        drep_type *t = NULL;
        char column[32];

        snprintf(column, sizeof(column), "column %d:", row[i].column);
        ck_assert_msg(drep_type_parse(row[i].line, &t) == row[i].err, "%s: %s", row[i].line,
                      drep_error());
        ck_assert_ptr_null(t);
        ck_assert_msg(strstr(drep_error(), column) != NULL, "%s: %s", row[i].line, drep_error());
    }
}
END_TEST

/* Every cut and every changed byte of a line gives a type or an error. */
START_TEST(test_damaged_lines)
{
    for (int i = 0; i < 60; i++) {
        struct sample s;
        char *text;
        size_t len;

        random_sample(&s, 1 + i % 4);
        text = print(s.type);
        len = strlen(text);
        for (size_t k = 0; k < len && k < 400; k++) {
            drep_type *t = NULL;
            char was = text[k];

            text[k] = "0[]{}(),:\"x\0-@"[random_upto(13)];
            if (drep_type_parse(text, &t) == 0)
                drep_type_free(t);
            text[k] = 0;
            t = NULL;
            if (drep_type_parse(text, &t) == 0)
                drep_type_free(t);
            text[k] = was;
        }
        free(text);
        sample_release(&s);
    }
}
END_TEST

static int parse_nested(const char *open, const char *close, int depth)
{
    char *line = calloc(1, (strlen(open) + strlen(close)) * (size_t)depth + 8);
    drep_type *t = NULL;
    int err;

    for (int i = 0; i < depth; i++)
        strcat(line, open);
    strcat(line, "INT");
    for (int i = 0; i < depth; i++)
        strcat(line, close);
    err = drep_type_parse(line, &t);
    drep_type_free(t);
    free(line);
    return err;
}

START_TEST(test_nesting_is_bounded)
{
    ck_assert_int_eq(parse_nested("dup(", ")", 63), 0);
    ck_assert_int_eq(parse_nested("dup(", ")", 64), DREP_ERR_LIMIT);
    ck_assert_int_eq(parse_nested("struct{a:", "}", 20000), DREP_ERR_LIMIT);
    ck_assert_int_eq(parse_nested("", "[1]", 63), 0);
    ck_assert_int_eq(parse_nested("", "[1]", 20000), DREP_ERR_LIMIT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("type_text");
    TCase *tc = tcase_create("all");

    random_seed(11);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_lines_come_back);
    tcase_add_test(tc, test_names_of_numpy_and_c);
    tcase_add_test(tc, test_blanks_do_not_matter);
    tcase_add_test(tc, test_random_types_come_back);
    tcase_add_test(tc, test_errors_name_the_column);
    tcase_add_test(tc, test_damaged_lines);
    tcase_add_test(tc, test_nesting_is_bounded);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
