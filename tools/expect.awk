# expect.awk -- a row of Markdown for each class of the lines that `fit servers pair` prints. `none`, `one` and `three` are files
# that `check --csv` wrote of two sheets, alone and with --calibrate 1 and 3.
function cell(file, kinds, metric,    line, part, n, values) {
    n = 0
    while ((getline line < file) > 0) {
        sub(/"sampled, experts distributed"/, "spread", line)
        split(line, part, ",")
        if (part[7] == metric && index(kinds, ";" part[3] ";") && part[8] > 0 && part[9] > 0)
            values[++n] = part[9] > part[8] ? part[9] / part[8] - 1 : 1 - part[9] / part[8]
    }
    close(file)
    if (n < 10)
        return "-"
    sort_numbers(values, n)
    return sprintf("%.1f", 100 * values[int((n + 1) / 2)])
}
function sort_numbers(values, n,    i, j, kept) {
    for (i = 2; i <= n; i++) {
        kept = values[i]
        for (j = i - 1; j > 0 && values[j] > kept; j--)
            values[j + 1] = values[j]
        values[j + 1] = kept
    }
}
function median(line) {
    return match(line, /median +[0-9.]+/) ? substr(line, RSTART + 6, RLENGTH - 6) + 0 : "-"
}
function of_clusters(line) {
    return match(line, /  c +[0-9.]+/) ? substr(line, RSTART + 3, RLENGTH - 3) + 0 : "-"
}
function clusters(line) {
    return match(line, /[0-9]+ clusters/) ? substr(line, RSTART, RLENGTH) + 0 : 0
}
BEGIN {
    kinds["TPOT aggregated"] = kinds["TTFT aggregated"] = ";aggregated;"
    kinds["TPOT split"] = kinds["TTFT split"] = ";disaggregated;"
    kinds["TPOT sampled"] = ";sampled;"
    kinds["TPOT experts spread"] = ";spread;"
    kinds["energy"] = ";sampled;spread;aggregated;"
    kinds["TPOT of all servers"] = ";aggregated;disaggregated;sampled;spread;"
}
{
    class = substr($0, 1, 20)
    sub(/ +$/, "", class)
    set = substr($0, 22, 6)
    sub(/ +$/, "", set)
    if (set == "all")
        order[++classes] = class
    if (set == "all" || set == "before")
        next
    error[class, set] = sprintf("%.1f", median($0))
    alike[class, set] = sprintf("%.1f", of_clusters($0))
    of[class, set] = clusters($0)
}
END {
    for (i = 1; i <= classes; i++) {
        class = order[i]
        if (!((class, "new") in error) || !(class in kinds))
            continue
        metric = tolower(substr(class, 1, 4)) == "ener" ? "energy" : tolower(substr(class, 1, 4))
        printf "| %s | %s (%s) | **%s (%s)** | %s | %s | %s | %d, %d |\n", class, error[class, "fit"],
               alike[class, "fit"], error[class, "new"], alike[class, "new"], cell(none, kinds[class], metric),
               cell(one, kinds[class], metric), cell(three, kinds[class], metric), of[class, "fit"], of[class, "new"]
    }
}
