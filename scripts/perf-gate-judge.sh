# shellcheck shell=bash disable=SC2034,SC2154 # settings are shared with perf-gate.sh
# How perf-gate.sh, which reads this, judges what it has measured: lines of $tmp/samples, with the fields that its function measure writes. It knows the gate's settings by their names, and
# nothing of how numbers come about.

# A measurement is calm if its threads had to wait for a processor for no more than this part of the time they wanted one. On an idle machine
# it is below 0.01; with another busy program per processor it is about 0.5. What goes into a baseline, or is compared with one, has no
# partner that was disturbed as much, and must be calmer.
calm=0.1
calm_alone=0.02

# How often, in all, a gate that compares builds of the same speed may fail: see the judgement below.
alarm=0.01

# What awk needs: columns of the samples, sorting, medians, and the probability that of n fair coins k or more show heads.
# shellcheck disable=SC2016
library='
function sort(a, n,   i, j, x) {
  for (i = 2; i <= n; i++) { x = a[i]; for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]; a[j + 1] = x }
}
function median(a, n) { sort(a, n); return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
function coins(n, k,   i, p, sum) {
  p = 1
  for (i = 1; i <= n; i++) p /= 2
  for (i = 0; i <= n; i++) { if (i >= k) sum += p; p *= (n - i) / (i + 1) }
  return sum
}
# bound is how many of n sorted values may be left out at an end so that the median is beyond the rest with a probability of 2.5% at most.
function bound(n,   k) { for (k = 0; coins(n, n - k) <= 0.025; k++); return k }
function busy(cpu, wait) { return cpu > 0 && wait > calm * (cpu + wait) }
'

# judge_pairs MODE PIPELINE LAST: prints ok, FAIL, more or doubt, a tab, and the figures.
judge_pairs() {
  # shellcheck disable=SC2016
  awk -F '\t' -v mode="$1" -v pipe="$2" -v last="$3" -v limit="$throughput_pct" -v olimit="$overhead_abs" -v calm="$calm" \
    -v alpha="$(awk "BEGIN { print $alarm / ($cells * ${#looks[@]} * 2) }")" "$library"'
    $3 == mode && $4 == pipe { speed[$1, $2] = $5; over[$1, $2] = $6 / 100; cpu[$1, $2] = $16; wait[$1, $2] = $17; bytes[$1, $2] = $18
      if ($2 > n) n = $2 }
    END {
      for (i = 1; i <= n; i++) quiet += ok[i] = !busy(cpu["old", i], wait["old", i]) && !busy(cpu["new", i], wait["new", i])
      wall = quiet * 2 >= n
      for (i = 1; i <= n; i++) {
        if (wall && !ok[i]) continue
        m++
        a = wall ? speed["old", i] : bytes["old", i] / cpu["old", i] * 1000
        b = wall ? speed["new", i] : bytes["new", i] / cpu["new", i] * 1000
        old[m] = a; new[m] = b; ratio[m] = b / a; slower += b < a
        oldover[m] = over["old", i]; newover[m] = over["new", i]; more[m] = over["new", i] - over["old", i]; dearer += more[m] > 0
      }
      k = bound(m)
      r = median(ratio, m); low = ratio[k > 0 ? k : 1]; high = ratio[k > 0 ? m + 1 - k : m]
      o = median(more, m); ohigh = more[k > 0 ? m + 1 - k : m]
      least = 1 - limit / 100
      fail = r < least && coins(m, slower) <= alpha || wall && o > olimit && coins(m, dearer) <= alpha
      pass = k > 0 && low >= least && (!wall || ohigh <= olimit)
      within = r >= least && (!wall || o <= olimit)
      a = median(old, m); b = median(new, m)
      text = sprintf("%.1f MB/s%s, was %.1f; ratio %.3f [%.3f, %.3f], of medians %.3f;", b, wall ? "" : " of processor time", a, r, low, high, b / a)
      if (wall) text = text sprintf(" overhead %.2f%%, was %.2f%%;", 100 * median(newover, m), 100 * median(oldover, m))
      printf "%s\t%s %d pairs%s\n", fail ? "FAIL" : pass || last && within ? "ok" : last ? "doubt" : "more", text, m,
        wall && m < n ? sprintf(" of %d", n) : wall ? "" : ", machine busy"
    }' "$tmp/samples"
}

# judge_baseline MODE PIPELINE LAST: the same with the baseline.
judge_baseline() {
  # shellcheck disable=SC2016
  awk -F '\t' -v mode="$1" -v pipe="$2" -v last="$3" -v limit="$throughput_pct" -v olimit="$overhead_abs" -v calm="$calm" "$library"'
    FNR == NR { if (/^#/ || $1 != mode || $2 != pipe) next; was = $6; wasover = $7 / 100; next }
    $3 != mode || $4 != pipe { next }
    { n++; if (busy($16, $17)) next; m++; speed[m] = $5; over[m] = $6 / 100 }
    END {
      if (m * 2 < n) { printf "%s\tother programs had the processors in %d of %d measurements: wait, or use --against\n", last ? "doubt" : "more", n - m, n; exit }
      s = median(speed, m); o = median(over, m)
      bad = s < was * (1 - limit / 100) || o > wasover + olimit
      printf "%s\t%.1f MB/s, baseline %.1f; ratio %.3f; overhead %.2f%%, baseline %.2f%%; %d measurements\n", bad ? (last ? "FAIL" : "more") : "ok",
        s, was, s / was, 100 * o, 100 * wasover, m
    }' "$baseline" "$tmp/samples"
}

# judge_new MODE PIPELINE LAST: whether there are as many calm measurements as a baseline takes.
judge_new() {
  # shellcheck disable=SC2016
  awk -F '\t' -v mode="$1" -v pipe="$2" -v last="$3" -v calm="$calm" -v repeats="$repeats" "$library"'
    $3 == mode && $4 == pipe { n++; if (!busy($16, $17)) { m++; speed[m] = $5; over[m] = $6 } }
    END {
      if (m < repeats) printf "%s\tother programs had the processors in %d of %d measurements\n", last ? "doubt" : "more", n - m, n
      else printf "ok\t%.1f MB/s; overhead %.2f%%; %d measurements\n", median(speed, m), median(over, m), m
    }' "$tmp/samples"
}

# table: prints the medians of the new build, of calm measurements; cells without any are named in a comment.
table() {
  echo "# Made by scripts/perf-gate.sh; numbers of another machine mean nothing."
  machine | sed 's/^/# /'
  printf '# threads\t%s\n# revision\t%s\n' "$threads" "$(revision)"
  # shellcheck disable=SC2016
  awk -F '\t' -v OFS='\t' -v calm="$calm" "$library"'
    BEGIN {
      print "mode", "pipeline", "size", "iterations", "repeats", "mbps_median", "scheduler_overhead_pct_median", "runs_median", "total_ns_median",
        "tracked_thread_time_ns_median", "stage_compute_ns_median", "queue_wait_ns_median", "queue_admin_ns_median", "gpu_handoff_ns_median",
        "gpu_try_send_full_count_median", "gpu_try_send_disconnected_count_median"
    }
    $1 == "new" {
      c = $3 OFS $4
      if (!(c in n)) { order[++cells] = c; n[c] = 0 }
      head[c] = $19 OFS $20
      all[c]++
      if (busy($16, $17)) next
      n[c]++
      for (i = 5; i <= 15; i++) v[c, n[c], i] = $i
    }
    END {
      for (i = 1; i <= cells; i++) {
        c = order[i]
        if (n[c] == 0) {
          sub(OFS, " ", c)
          print "# left out: " c ", for other programs had the processors in all of " all[order[i]] " measurements"
          continue
        }
        rows++
        if (n[c] % 2 == 0) n[c]-- # medians are of an odd number
        line = c OFS head[c] OFS n[c]
        for (k = 5; k <= 15; k++) {
          for (j = 1; j <= n[c]; j++) a[j] = v[c, j, k]
          line = line OFS sprintf(k <= 6 ? "%.3f" : "%.0f", median(a, n[c]))
        }
        print line
      }
      if (!rows) print "# empty: there is no measurement that other programs did not disturb"
    }' "$tmp/samples"
}
