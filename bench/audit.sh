# audit.sh - the part "audit" of `make bench`: what it costs that the box's system calls are recorded.
#
# Read in by bench/run.sh. A C build by make in boxes with each level of --audit, in interleaved rounds, by the processor
# time of all processes of a run (witness and log included); and floods of single calls, for the price of one record.
# With and without the default level are compared round by round, because the difference is smaller than what the machine's
# speed changes meanwhile. AUDIT_ROUNDS=30 AUDIT_FILES=30 change how long it takes.
# shellcheck shell=bash disable=SC2154

audit_rounds=${AUDIT_ROUNDS:-30} audit_files=${AUDIT_FILES:-30}

audit_prepare() {
	local i
	mkdir -p "$ws/build"
	(
		cd "$ws/build" || exit 1
		for ((i = 1; i <= audit_files; i++)); do
			printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int x) { char b[64]; snprintf(b, sizeof b, "%%d", x + %d); return atoi(b) + (int)strlen(b); }\n' "$i" "$i"
		done >all.tmp
		for ((i = 1; i <= audit_files; i++)); do
			{ sed -n 1,3p all.tmp && sed -n "$((4 * i))p" all.tmp; } >"f$i.c"
		done
		rm all.tmp
		echo 'int main(void) { return 0; }' >main.c
		printf 'prog: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tgcc -o $@ $^\n%%.o: %%.c\n\tgcc -O1 -c -o $@ $<\n' >Makefile
	)
	cat >"$ws/flood.c" <<-'C'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
		        long n = argc > 2 ? atol(argv[2]) : 0;
		        if (argc > 1 && !strcmp(argv[1], "refused"))
		                for (long i = 0; i < n; i++)
		                        syscall(SYS_unshare, 0x10000000);
		        if (argc > 1 && !strcmp(argv[1], "open"))
		                for (long i = 0; i < n; i++)
		                        close(open("/etc/hostname", O_RDONLY));
		        if (argc > 1 && !strcmp(argv[1], "plain"))
		                for (long i = 0; i < n; i++)
		                        syscall(SYS_getppid);
		        return 0;
		}
	C
	gcc -O2 -w -static -o "$ws/flood" "$ws/flood.c"
	[ "$me" != 0 ] || chown -R "$uid:$uid" "$ws"
}

# audit_price name-off name-on n: microseconds of processor time, and of wall time, per call.
audit_price() {
	awk -v a="${cpu[$1]}" -v b="${cpu[$2]}" -v c="${end[$1]}" -v d="${end[$2]}" -v n="$3" \
		'BEGIN { printf "%.1f %.1f %.0f", (b - a) * 1000 / n, (d - c) * 1000 / n, (d > c ? n * 1000 / (d - c) : 0) }'
}

part_audit() {
	local level n=20000 cpu_us wall_us rate base value=-
	audit_prepare
	build() { row "build-$1" end 1 "$uid" "$ws" "$ours" run -q --rm --new --audit "$1" -- make -s -C build; }
	build off
	build default
	measure "$audit_rounds"
	build files
	build all
	measure 5
	for level in off default; do row "refused-$level" end 1 "$uid" "$ws" "$ours" run -q --rm --new --audit "$level" -- ./flood refused $n; done
	for level in off files; do row "open-$level" end 1 "$uid" "$ws" "$ours" run -q --rm --new --audit "$level" -- ./flood open $n; done
	for level in off all; do row "plain-$level" end 1 "$uid" "$ws" "$ours" run -q --rm --new --audit "$level" -- ./flood plain $n; done
	measure 5

	echo
	echo "Recording system calls: make of $((audit_files + 1)) small C files in a box (ms, medians; processor time of all processes)"
	printf '  %-10s %6s %10s %10s   %s\n' '--audit' runs end cpu 'cpu / off'
	base=${cpu[build-off]:--1}
	for level in off default files all; do
		is_good "build-$level" && printf '  %-10s %6d %10s %10s   %s\n' "$level" "${runs[build-$level]}" "$(ms "${end[build-$level]}")" \
			"$(ms "${cpu[build-$level]}")" "$(ratio "${cpu[build-$level]}" "$base")"
	done
	echo "  one record            cpu us   wall us   a second"
	while read -r what off on words; do
		is_good "$on" || continue
		read -r cpu_us wall_us rate < <(audit_price "$off" "$on" $n)
		printf '  %-20s %7s %9s %10s   %s\n' "$what" "$cpu_us" "$wall_us" "$rate" "$words"
		samples+=("{\"part\":\"audit\",\"name\":\"$what\",\"cpu_us\":$cpu_us,\"wall_us\":$wall_us,\"per_second\":$rate}")
	done <<-ROWS
		refused refused-off refused-default a refused call, default
		open open-off open-files opening a file, files
		any plain-off plain-all a call that does nothing, all
	ROWS
	keep audit build-off build-default build-files build-all
	is_good build-default && awk -v r="${paired[build-default]}" 'BEGIN { exit !(r > 0) }' && value=${paired[build-default]%?}
	judge "a C build with the default audit / without, processor time by rounds" "$value" 1.03
}
