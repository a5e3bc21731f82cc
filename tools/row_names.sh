#!/bin/sh
# row_names.sh FILE... -- the names of all rows of the formula files, for C, in reading order.
# A row that a later chapter redefines keeps its first place.
awk '
    /^[a-z][a-z0-9_]* : / && !seen[$1]++ { name[n++] = $1 }
    END {
        print "/* Written by tools/row_names.sh from formulas/. */"
        print "#ifndef ROW_NAMES_H\n#define ROW_NAMES_H\n"
        for (i = 0; i < n; i++) printf "#define NAME_%s \"%s\"\n", name[i], name[i]
        print "\nenum row_name {"
        for (i = 0; i < n; i++) printf "    ROW_%s,\n", name[i]
        print "    ROW_NAMES\n};\n\n#endif"
    }' "$@"
