#!/bin/sh
# check_reports.sh -- reports on paper: each prints to A4 within its number of pages, no picture and no table is wider
# than the page, and no figure stands on two pages. Needs a browser that prints, and pdfinfo and pdftotext of poppler.
# Long: a browser.
set -u
cd "$(dirname "$0")/.." || exit 2
CHALKLINE=${CHALKLINE:-./chalkline}
browser=${CHROMIUM:-chromium}
. tests/needs.sh
for program in "$browser" pdfinfo pdftotext python3; do
    command -v "$program" >/dev/null || missing "$program"
done
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failed=0

# Two pages, but for plan and bill, which may have three.
while read -r name most words; do
    # shellcheck disable=SC2086
    if ! "$CHALKLINE" $words --report "$here/$name.html" >"$here/said" 2>&1; then
        echo "$words: $(cat "$here/said")"
        failed=1
        continue
    fi
    # What is wider than the page is said by the page itself, in its title. In a copy: a report has no script.
    sed 's|</body>|<script>document.title = [...document.querySelectorAll("table, svg, pre")]\
        .filter(e => e.getBoundingClientRect().right > document.querySelector("main").getBoundingClientRect().right + 1)\
        .map(e => "wide " + e.tagName).join() \|\| "fits"</script></body>|' "$here/$name.html" >"$here/wide.html"
    wide=$("$browser" --headless --no-sandbox --disable-gpu --window-size=673,1000 --dump-dom "file://$here/wide.html" \
        2>/dev/null | sed -n 's|.*<title>\(.*\)</title>.*|\1|p' | head -1)
    "$browser" --headless --no-sandbox --disable-gpu --no-pdf-header-footer \
        --print-to-pdf="$here/$name.pdf" "file://$here/$name.html" >/dev/null 2>&1
    pages=$(pdfinfo "$here/$name.pdf" 2>/dev/null | sed -n 's/^Pages: *//p')
    size=$(pdfinfo "$here/$name.pdf" 2>/dev/null | grep -c 'Page size:.*A4')
    foot=$(pdftotext -layout "$here/$name.pdf" - 2>/dev/null | grep -c "page [0-9]* of $pages$")
    answer=$(sed -n 's|.*<title>\(.*\)</title>.*|\1|p' "$here/$name.html" | head -1)
    # Title and last label of the picture on one page: its axis is named below it.
    whole=$(python3 - "$here/$name.html" "$here/$name.pdf" "$pages" <<'END'
import html, re, subprocess, sys
page = open(sys.argv[1], encoding="utf-8").read()
figure = re.search(r"<figure>(.*?)</figure>", page, re.S).group(1)
texts = [html.unescape(t) for t in re.findall(r"<text[^>]*>([^<]*)</text>", figure)]
words = {w for t in texts for w in t.split() if len(w) > 3}
on = []
for i in range(1, int(sys.argv[3]) + 1):
    text = subprocess.run(["pdftotext", "-f", str(i), "-l", str(i), sys.argv[2], "-"], capture_output=True, text=True).stdout
    on.append(len(words & set(text.split())) / max(1, len(words)))
print("whole" if max(on) > 0.99 else "split: " + " ".join("%.2f" % x for x in on))
END
    )
    if [ "${pages:-0}" -gt "$most" ] || [ "${pages:-0}" = 0 ] || [ "$size" != 1 ] || [ "$foot" != "$pages" ] ||
        [ "$wide" != fits ] || [ "$whole" != whole ] || [ -z "$answer" ]; then
        echo "$name: ${pages:-no} pages of $most, A4 $size, foot on $foot, $wide, picture $whole"
        failed=1
    fi
    kept="${kept:+$kept, }$name ${pages:-0}"
done <<END
brief 2 brief deepseek-v3 --on gb200-nvl72
step 2 step deepseek-v3 --on gb200-nvl72
why 2 why bound_step --model deepseek-v3 --on gb200-nvl72
curve 2 curve bound_step bound_weights batch=1..4096 --model deepseek-v3 --on gb200-nvl72
plan 3 plan qwen3-32b --on h200-sxm --gpus 32
simulate 2 simulate poisson:rate=2,count=2000 --model qwen3-32b --on h200-sxm --ttft 1s --tpot 30ms
train 2 train llama-3.1-405b --on h100-sxm --gpus 16384
deduce 2 deduce prices --model claude-opus-4-7
prices 2 deduce prices
tiers 2 tiers deepseek-v3 --on gb200-nvl72
bill 3 bill agent
own 3 bill agent --model deepseek-v3.2 --own deepseek-v3 --on h200-sxm
life 2 life llama-3.1-8b
check 2 check
END
echo "      pages: $kept"
exit "$failed"
