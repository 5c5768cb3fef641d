#!/bin/bash
# suite: test=user soak=root,user timeout=300
# tier: the log is told in the same way whoever started the box
# story_execs.sh - the log against another witness: a busy run (clone, build, commit) in which every program also writes down itself what
# it was started as. Each of those must stand in the log, word for word, as often as it ran, and each must have an end there.
set -u
. "$(dirname "$0")/lib_life.sh"
py=/usr/bin/python3
[ -x $py ] || py=python3
for tool in git make cc; do
	if ! command -v $tool >/dev/null; then
		skip 'every exec of a busy run is in the log' "$tool is not installed"
		exit 0
	fi
done
mkdir -p "$work/ws/.witness" && cd "$work/ws" || exit 1
cc -O1 -shared -fPIC -D_GNU_SOURCE -o .witness/execs.so "$here/story/execs.c"
check 'the other witness is made' $? 'it does not compile'

# A server of git's own in the workspace, with a program of some files in it.
git init -q -b main seed
(
	cd seed || exit 1
	git config user.email a@example.org
	git config user.name a
	for i in 1 2 3 4 5 6 7 8; do echo "int f$i(void); int f$i(void) { return $i; }" >"f$i.c"; done
	{
		for i in 1 2 3 4 5 6 7 8; do echo "int f$i(void);"; done
		echo 'int main(void) { return f1() + f2() + f3() + f4() + f5() + f6() + f7() + f8() - 36; }'
	} >main.c
	printf 'OBJ = f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o main.o\nprog: $(OBJ)\n\tcc -o prog $(OBJ)\n%%.o: %%.c\n\tcc -c -o $@ $<\n' >Makefile
	git add . && git commit -q -m seed
) >/dev/null 2>&1
git clone -q --bare seed server.git && rm -rf seed
cat >work.sh <<'END'
set -e
git clone -q "file://$PWD/server.git" clone
cd clone
git config user.email b@example.org
git config user.name b
make -s -j4 || make -s
./prog
printf '#!/bin/sh\necho hook "$@" >&2\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
for i in $(seq 12); do sh -c "echo $i 'a  b' \"\$(date +%s)\" >note.$i" one 'two words' "three's" 'tab	and "quotes" \ and $x'; done
find . -name 'f*.c' -exec wc -l {} +  | sort -n | tail -1 >count
git add note.* count
git commit -q -m 'one more'
git push -q origin HEAD:refs/heads/more
(for i in $(seq 40); do /bin/true $i & done; wait)
no-such-program-anywhere 2>/dev/null || true
echo done
END
box=$tag-busy
: >.witness/truth
SAY_LIMIT=300 say "$ostiary" run -q --keep --name "$box" --env LD_PRELOAD="$PWD/.witness/execs.so" --env EXECS_LOG="$PWD/.witness/truth" -- sh work.sh
same 'the busy run' "$code $(tail -n 1 <<<"$out")" '0 done'
truth=$boxes/$box/layers/ws/upper/.witness/truth
cp "$truth" "$work/truth" 2>/dev/null || "$ostiary" cp "$box:$PWD/.witness/truth" "$work/truth"
"$ostiary" log "$box" --json >"$work/log"
cat >"$work/compare.py" <<'END'
import collections, json, re, sys

truth = collections.Counter(tuple(json.loads(l)) for l in open(sys.argv[1]))
records = [json.loads(l) for l in open(sys.argv[2])]

def words(note):
    """argv from the log's words: plain ones as they are, others in double quotes with \\ escapes."""
    out, at = [], 0
    while at < len(note):
        if note[at] == " ":
            at += 1
        elif note[at] == '"':
            word, at = "", at + 1
            while note[at] != '"':
                if note[at] == "\\":
                    m = re.match(r'\\x([0-9a-f]{2})|\\(.)', note[at:], re.S)
                    word += chr(int(m[1], 16)) if m[1] else {"n": "\n", "t": "\t", "r": "\r"}.get(m[2], m[2])
                    at += len(m[0])
                else:
                    word += note[at]
                    at += 1
            out.append(word)
            at += 1
        else:
            end = note.find(" ", at)
            end = len(note) if end < 0 else end
            out.append(note[at:end])
            at = end
    return tuple(out)

execs = [r for r in records if r["kind"] == "exec" and r["verdict"] == "allow"]
log = collections.Counter(words(r.get("note", "")) for r in execs)
# A script is started by its own name and known to itself by its interpreter's.
missing = []
for argv, n in truth.items():
    have = log[argv]
    if have < n:
        for rest in range(1, min(3, len(argv))):
            have += sum(c for w, c in log.items() if w[1:] == argv[rest + 1:] and w and argv[rest].endswith(w[0].lstrip("./")))
    if have < n:
        missing.append((n - have, argv))
print("%d programs by their own word, %d execs in the log" % (sum(truth.values()), len(execs)))
if missing:
    print("missing:", missing[:5])
    sys.exit(1)
started = {r["pid"] for r in execs}
ended = collections.Counter(r["pid"] for r in records if r["kind"] == "exit")
alive = [p for p in started if not ended[p]]
if alive:
    print("no end of", [r.get("note") for r in execs if r["pid"] in alive][:5])
    sys.exit(2)
if any(not r.get("ppid") or not r.get("path") for r in execs):
    print("an exec without parent or path")
    sys.exit(3)
END
# A control first: one line of the truth that did not happen is missed.
cp "$work/truth" "$work/lie"
echo '["never","ran"]' >>"$work/lie"
$py "$work/compare.py" "$work/lie" "$work/log" >"$work/said"
same 'control: a program that did not run is missed' "$? $(grep -c never "$work/said")" '1 1'
# And a log with one record taken out.
grep -v '"kind":"exec".*one more' "$work/log" >"$work/less"
$py "$work/compare.py" "$work/truth" "$work/less" >"$work/said"
same 'control: a record that is taken out is missed' $? 1
$py "$work/compare.py" "$work/truth" "$work/log" >"$work/said"
check "every exec of a busy run is in the log, and its end: $(head -n 1 "$work/said")" $? "$(tail -n 2 "$work/said")"
[ "$(wc -l <"$work/truth")" -ge 100 ]
check 'the run was busy' $? "$(wc -l <"$work/truth") programs"
say "$ostiary" log "$box" --verify
same 'the chain holds' "$code" 0
same 'the timeline has as many as the log' "$("$ostiary" timeline "$box" --kind exec --json | wc -l)" "$("$ostiary" log "$box" --kind exec --json | wc -l)"
"$ostiary" rm -f "$box" >/dev/null
nothing_left 'nothing is left of the box'
exit $bad
