# manual.awk -- chalkline(3) from library/chalkline.h: a section for each /* ---- title, and below each comment the
# declarations that follow it. The first comment is the description.
#
#     awk -v version=0.1.0 -f tools/manual.awk library/chalkline.h > chalkline.3
function code(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); return text ~ /^[.']/ ? "\\&" text : text }
function say(text,   n, i, part) {
    n = split(text, part, "\n")
    for (i = 1; i <= n; i++)
        if (part[i] ~ /^    /) { print ".nf"; for (; part[i] ~ /^    /; i++) print code(part[i]); print ".fi"; i-- }
        else if (part[i] == "") print ".PP"
        else print part[i] ~ /^[.']/ ? "\\&" part[i] : part[i]
}
# A comment and the declarations below it.
function entry() {
    if (decls == "") return
    print ".PP\n.nf"; printf "%s", decls; print ".fi"
    if (said != "") { print ".RS 4"; say(said); print ".RE" }
    said = decls = ""
}
/^\/\*/ {
    entry()
    said = ""
    inside = 1
}
inside {
    line = $0
    done = line ~ /\*\/$/
    sub(/^\/\* ?/, "", line); sub(/^ \* ?/, "", line); sub(/ *\*\/$/, "", line)
    if (line ~ /^---- /) { sub(/^-+ */, "", line); sub(/ *-+$/, "", line); title = toupper(line) }
    else said = said (said == "" ? "" : "\n") line
    if (done) inside = 0
    if (done && title != "") { print ".SH " title; say(said); said = title = "" }
    if (done && !begun) {
        begun = 1
        sub(/^chalkline -- /, "", said)
        name = said; sub(/\n.*/, "", name); sub(/\.$/, "", name)
        sub(/^[^\n]*\n\n?/, "", said)
        printf ".TH CHALKLINE 3 \"\" \"chalkline %s\"\n.SH NAME\nchalkline \\- %s\n.SH SYNOPSIS\n.nf\n", version, name
        print "#include <chalkline.h>\n\ncc FILE.c $(pkg\\-config \\-\\-cflags \\-\\-libs chalkline)\n.fi\n.SH DESCRIPTION"
        say(said)
        said = ""
    }
    next
}
/^#|^extern|^}$/ { next }
/^$/ { entry(); next }
{ decls = decls code($0) "\n" }
END { entry(); print ".SH SEE ALSO\n.BR chalkline (1)" }
