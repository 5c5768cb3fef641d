#!/bin/bash
# suite: test=user soak=root,user timeout=400
# tier: the log is told in the same way whoever started the box
# story_report.sh - the page about a run: whole in itself, its sections there, and everything that a box named harmless in it, in a
# real browser: nothing runs, nothing leaves.
set -u
. "$(dirname "$0")/lib_life.sh"
. "$(dirname "$0")/lib_tier.sh"
py=/usr/bin/python3
[ -x $py ] || py=python3
export TZ=UTC0
has() { # name, text, literal part of it
	if [[ $2 == *"$3"* ]]; then ok "$1"; else not_ok "$1" "\"$3\" is not in it"; fi
}
lacks() { # name, text, literal part
	if [[ $2 == *"$3"* ]]; then not_ok "$1" "\"$3\" is in it"; else ok "$1"; fi
}

# --- a box with hostile names -------------------------------------------------------------------------------------------
box=$tag-page
evil='<img src=x onerror=document.title="PWNED">'
SAY_LIMIT=150 say "$ostiary" run -q --keep --name "$box" --env EVIL="$evil" -- sh -c 'echo 1 >plain.txt; mkdir -p .githooks
	echo "#!/bin/sh" >.githooks/pre-commit; chmod +x .githooks/pre-commit
	: >"$EVIL"; : >"\"><script>document.title=1<" ; : >"&lt;b&gt;"; : >"$(printf "e\033[2J\342\200\256x")"; : >"<title><svg onload=alert(1)>"
	: >"$(printf "n\377x")"
	curl -s -m 60 "http://refused.example/<script>" >/dev/null; exit 3'
same 'the run' "$code" 3
dir=$boxes/$box
[ -e "$dir/audit.jsonl" ]
check 'it has a log' $? 'none'

# The log of a run in which every text is hostile; times lie within the box's life.
now=$(date +%s)
$py - "$now" <<'END' | $py "$here/story/makelog.py" "$box" >"$dir/audit.jsonl"
import json, sys
t = int(sys.argv[1]) - 100
bad = '<script>document.title="PWNED"</script>'
at = '" onmouseover="document.title=1" x="'
net = "<img src=http://127.0.0.1:%s/leak.png>" % 9
def put(s, **k): print(json.dumps(dict(at=t + s, **k)))
put(0, kind="box", method="start", note=bad)
put(1, kind="exec", pid=10, ppid=9, exe="/bin/sh", path="/bin/" + bad, note="sh -c " + bad + at)
for i in range(40):
    put(2 + i, kind="exec", pid=20 + i, ppid=10 if i < 5 else 19 + i, exe=bad, path="/bin/x", note="child %d %s" % (i, net))
    if i % 2:
        put(2.5 + i, kind="exit", pid=20 + i, exe=bad, status=i % 3, cpu_us=250000, peak_kib=4096)
for i in range(30):
    put(50, kind="http", verdict="allow", method="GET", host="h%d.example.org" % i, port=443, path="/" + bad, status=200,
        bytes_up=1000, bytes_down=200000 * i, pid=10, exe=bad, secrets="A_KEY" + at.replace(" ", ""), rule=bad, note=net)
put(60, kind="http", verdict="deny", method=bad, host=bad, port=443, path=at, status=403, pid=10, exe=bad, rule=at, note=net,
    cure="allow GET evil.example/" + bad)
put(61, kind="http", verdict="deny", method="GET", host="quote.example", port=443, path="/", status=403, cure="allow GET quote.example/'; rm -rf /")
put(62, kind="http", verdict="deny", method="GET", host="lure.example" + bad, port=443, path="/", status=403, cure="allow GET lure.example/")
put(62, kind="alarm", verdict="deny", host="lure.example" + bad, secrets=bad, note=bad + net)
put(63, kind="http", verdict="ask-yes", method="GET", host="asked.example", port=443, path="/", status=200, note=bad)
put(64, kind=bad, verdict=at, method=net, note=bad)
put(65, kind="javascript:alert(1)", note="javascript:alert(1)")
END
sed -i "s/^created_us .*/created_us $((now - 101))000000/" "$dir/meta"

# --- writing it --------------------------------------------------------------------------------------------------------------
page=$work/r.html
say "$ostiary" report "$box" -o "$page"
same 'report writes a file' "$code $out" '0 '
has 'and says where' "$err" "the report of box $box is in $page"
same 'which its owner alone may read, as the log' "$(stat -c %a "$page")" 600
html=$(cat "$page")
same 'to standard output the same' "$("$ostiary" report "$box" -o - | wc -c)" "$(wc -c <"$page")"
say "$ostiary" report "$box"
[ "$code" = 64 ] && [[ $err == *'-o FILE'* ]]
check 'without -o it asks where to' $? "$code $err"
say "$ostiary" report "$box" -o "$work"
same 'a directory is refused' "$code" 119
say "$ostiary" report "$box" -o "$work/none/x.html"
same 'a place that is not there is refused' "$code" 125
say "$ostiary" report "$tag-nobody" -o "$work/x.html"
same 'an unknown box is refused' "$code $(ls "$work"/x.html 2>/dev/null)" '121 '
echo old >"$work/again.html"
ln -s again.html "$work/link.html"
say "$ostiary" report "$box" -o "$work/link.html"
[ "$code" = 0 ] && [ -L "$work/link.html" ] && grep -q '<!DOCTYPE html>' "$work/again.html"
check 'a file is replaced, through a link' $? "$code $err"
same 'no half file is left' "$(find "$work" -maxdepth 1 -name '*.new.*' | wc -l)" 0
if [ -w /dev/full ]; then
	"$ostiary" report "$box" -o - >/dev/full 2>/dev/null
	same 'a full disk is told by the status' $? 125
fi

# --- what it says -------------------------------------------------------------------------------------------------------------
for id in summary activity alarms approvals changes hosts processes secrets spend timeline; do
	has "section $id" "$html" "id=\"$id\""
done
has 'how it ended' "$html" 'exit 3'
has 'the command' "$html" 'Command'
has 'changes that run something come first' "$(sed -n '/id="changes"/,/<\/section>/p' "$page" | grep -m 1 'class="what-')" 'runs on commit'
has 'what would allow a refused host' "$html" "ostiary allow $box &#39;GET evil.example/"
lacks 'but not one that a placeholder was sent to' "$html" '&#39;GET lure.example/'
lacks 'a rule that would end its quotes is not offered' "$html" 'rm -rf /&#39;'
has 'processes have a tree' "$html" 'class="i2"'
has 'a name that is not UTF-8 is quoted' "$html" 'n\xffx'
has 'secrets by name' "$html" 'A_KEY'
has 'money is not made up' "$html" 'Money is not metered'
lacks 'no script' "${html,,}" '<script'
lacks 'no picture' "${html,,}" '<img'
lacks 'no frame' "${html,,}" '<iframe'
lacks 'no link' "${html,,}" '<a '
lacks 'no handler' "$(grep -oE '<[a-z]+ [^>]*>' "$page" | tr '\n' ' ')" ' on'
lacks 'no address in any attribute' "$(grep -oE '<[a-z]+ [^>]*>' "$page" | tr '\n' ' ')" 'http:'
has 'its policy' "$html" "default-src 'none'; style-src 'sha256-"
LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$page"
same 'no control byte' $? 1
$py - "$page" <<'END'
import html.parser, sys
tags = set("html head meta title style body main header div h1 h2 h3 span p code b section svg rect table thead tbody tr th td time i input label br footer".split())
attrs = set("lang charset http-equiv content name class id viewbox preserveaspectratio role aria-label x y width height rx colspan datetime data-l type checked for".split())
void = set("meta input br".split())
bad, stack = [], []
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, at):
        if tag not in tags or any(k not in attrs for k, v in at): bad.append((tag, at))
        if tag not in void: stack.append(tag)
    def handle_startendtag(self, tag, at):
        if tag not in tags or any(k not in attrs for k, v in at): bad.append((tag, at))
    def handle_endtag(self, tag):
        if not stack or stack.pop() != tag: bad.append(("/" + tag, stack[-3:]))
    def handle_comment(self, data): bad.append(("comment", data))
    def handle_decl(self, d):
        if d != "DOCTYPE html": bad.append(d)
p = P()
p.feed(open(sys.argv[1], encoding="utf-8", errors="strict").read())
p.close()
if bad or stack: print(bad[:3], stack)
sys.exit(bool(bad or stack))
END
check 'only the tags and attributes that it is made of, nested well, in UTF-8' $? 'see above'

# --- in a browser --------------------------------------------------------------------------------------------------------------
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
look() { # arguments of the browser
	mkdir -p "$work/browser"
	HOME=$work/browser timeout -k 5 240 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--user-data-dir="$work/browser/profile" --virtual-time-budget=3000 "$@" 2>"$work/browser.err"
}
if ! is_soak; then
	: # soak looks at the page; what it is made of was judged above
elif [ -z "$browser" ]; then
	skip 'the page in a browser' 'chromium is not installed'
elif ! look --dump-dom 'data:text/html,<title>up</title>' | grep -q '<title>up'; then
	skip 'the page in a browser' "$(tail -n 1 "$work/browser.err" | cut -c1-200)"
else
	# Whatever the page asks for would come here.
	$py - "$work/asked" <<'END' &
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(sys.argv[1] + ".log", "a").write(self.path + "\n")
        self.send_response(404); self.end_headers()
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
open(sys.argv[1] + ".port", "w").write(str(s.server_port))
s.serve_forever()
END
	server=$!
	wait_for 60 test -s "$work/asked.port"
	port=$(cat "$work/asked.port")
	cat >"$work/control.html" <<-END
		<html><head><title>before</title></head><body><img src="http://127.0.0.1:$port/control"><script>document.title="RAN"</script></body></html>
	END
	dom=$(look --dump-dom "file://$work/control.html")
	has 'control: a page with a script runs it' "$dom" '<title>RAN</title>'
	wait_for 60 test -s "$work/asked.log"
	has 'control: and its pictures are fetched' "$(cat "$work/asked.log" 2>/dev/null)" /control
	: >"$work/asked.log"
	sed -i "s,http://127.0.0.1:9/leak,http://127.0.0.1:$port/leak,g" "$page"
	dom=$(look --dump-dom "file://$page")
	has 'the title is ours' "$dom" "<title>Box $box - Ostiary report</title>"
	for id in summary activity alarms approvals changes hosts processes secrets spend timeline; do
		grep -q "id=\"$id\"" <<<"$dom" || not_ok "in the browser: $id" 'it is not there'
	done
	ok 'the browser has every section'
	same 'hostile text is text' "$(grep -c '<script\|<img' <<<"$dom")" 0
	same 'nothing is fetched' "$(cat "$work/asked.log")" ''
	# The same page with a script and a picture planted, as a fault in escaping would: the policy holds.
	sed "s,<main>,<main><script>document.title='RAN'</script><img src=\"http://127.0.0.1:$port/planted\"><p onclick=x id=planted style=\"color:red\">p</p>," "$page" >"$work/planted.html"
	dom=$(look --dump-dom "file://$work/planted.html")
	has 'control: the planted script is in the page' "$dom" '<script>document.title'
	has 'and does not run' "$dom" "<title>Box $box - Ostiary report</title>"
	same 'nor is its picture fetched' "$(cat "$work/asked.log")" ''
	# It is looked at at both widths: the picture is there and is not one colour.
	for size in 1280,1600 390,1600; do
		look --window-size=$size --screenshot="$work/shot.png" "file://$page" >/dev/null
		[ "$(stat -c %s "$work/shot.png" 2>/dev/null || echo 0)" -gt 20000 ]
		check "it is drawn at $size" $? "$(stat -c %s "$work/shot.png" 2>&1)"
		rm -f "$work/shot.png"
	done
	# A phone does not have to scroll sideways.
	cat >"$work/wide.py" <<-'END'
		import re, sys
		s = open(sys.argv[1], encoding="utf-8").read()
		s = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', '', s)
		s = s.replace("</body>", "<script>document.title=document.documentElement.scrollWidth+' of '+innerWidth</script></body>")
		open(sys.argv[2], "w", encoding="utf-8").write(s)
	END
	$py "$work/wide.py" "$page" "$work/wide.html"
	for size in 500 1280; do
		title=$(look --window-size=$size,900 --dump-dom "file://$work/wide.html" | grep -o '<title>[^<]*' | cut -c8-)
		[ -n "$title" ] && [ "${title% of *}" -le "${title#* of }" ]
		check "nothing lies beyond the right edge at $size" $? "$title"
	done
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
fi

# --- a long run -------------------------------------------------------------------------------------------------------------------
$py - "$now" <<'END' | $py "$here/story/makelog.py" "$box" >"$dir/audit.jsonl"
import json, sys
t = int(sys.argv[1]) - 100
for i in range(12000):
    print(json.dumps(dict(at=t + i / 200, kind="exec", pid=1000 + i, ppid=999 + i, exe="/bin/sh", path="/bin/sh", note="step %d" % i)))
for i in range(1500):
    print(json.dumps(dict(at=t + 70 + i / 100, kind="http", verdict="deny", method="GET", host="h%d.example" % i, port=443, path="/")))
END
say "$ostiary" report "$box" -o "$page"
same 'a long run' "$code" 0
html=$(cat "$page")
[ "$(wc -c <"$page")" -lt 2000000 ]
check 'is a page of bounded size' $? "$(wc -c <"$page") bytes"
has 'which says what it leaves out' "$html" "more; <code>ostiary timeline $box</code> shows all"
has 'of processes' "$html" '11,700 more; <code>ostiary timeline'
has 'of hosts' "$html" '1,300 requests to other hosts'
has 'its figures are whole' "$html" '12,000</div><div class="l">programs started'
has 'its end is there' "$html" 'h1499.example'
rm "$dir/audit.jsonl"
say "$ostiary" report "$box" -o "$page"
has 'without a log the changes are shown' "$code $(cat "$page")" 'plain.txt'
"$ostiary" rm -f "$box" >/dev/null
nothing_left 'nothing is left of the box'
exit $bad
