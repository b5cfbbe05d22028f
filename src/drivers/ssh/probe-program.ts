import { HOST_PROGRAMS } from '../../model/host-item.ts'
import { SENSORS } from '../../model/host-sensors.ts'
import { HOST_PATH } from './item.ts'

/**
 * Answers every question about a host in one go. POSIX shell, because that is what every host has; constant text, so
 * that nothing a person wrote is ever part of a program; questions come on the input, one a line, each word coded so
 * that it cannot be anything but a word. It only reads.
 *
 * Line in: `NUMBER WHAT WORD…`, each word as `=text` with odd bytes as \0ooo. Line out: `NUMBER name value`, or `NUMBER
 * name` and base64 behind a `:`. The last line is `end`: without it the answer was cut off.
 */
export const PROBE = String.raw`${HOST_PROGRAMS.probe}
LC_ALL=C; export LC_ALL; ${HOST_PATH}
umask 077
dec() { d=${'$'}{1#=}; case $d in *[!A-Za-z0-9_./:=@%+,-]*) d=$(printf %bx "$d"); d=${'$'}{d%x};; esac; }
b64() { printf '%s' "$3" | base64 | tr -d '\n' | { IFS= read -r x || :; printf '%s %s :%s\n' "$1" "$2" "$x"; }; }
file() {
  n=$1; dec "$2"; p=$d; want=$3
  # A share that does not answer must not keep the other questions waiting.
  timeout -k 1 5 stat -L -c %i -- "$p" >/dev/null 2>&1; case $? in 124 | 137) echo "$n late 1"; return ;; esac
  if [ -L "$p" ]; then
    echo "$n kind link"; b64 "$n" target "$(readlink -- "$p")"; return
  elif [ ! -e "$p" ]; then echo "$n kind absent"; return
  fi
  set -- $(stat -c '%a %U %G %s' -- "$p"); echo "$n mode $1"; echo "$n owner $2"; echo "$n group $3"; size=$4
  if [ -d "$p" ]; then echo "$n kind directory"; return; fi
  if [ ! -f "$p" ]; then echo "$n kind other"; return; fi
  echo "$n kind file"
  set -- $(sha256sum <"$p"); echo "$n sha256 $1"
  if [ "$1" != "$want" ] && [ "$size" -le 131072 ]; then
    printf '%s content :' "$n"; base64 <"$p" | tr -d '\n'; echo
  fi
}
sensors() {${SENSORS}}
packages() {
  dpkg-query -W -f='${'$'}{db:Status-Abbrev}|${'$'}{Package}|${'$'}{Version}\n' 2>/dev/null
}
provided() {
  dpkg-query -W -f='${'$'}{db:Status-Abbrev}|${'$'}{Provides}\n' 2>/dev/null | sed -n 's/^[ih]i |//p' | tr , '\n' | sed 's/ *(.*//; s/^ *//'
}
while IFS= read -r line; do
  set -f; set -- $line; set +f
  n=$1; what=$2; shift 2
  case $what in
    file) file "$n" "$1" "${'$'}{2#=}" ;;
    package)
      dec "$1"
      if [ -z "${'$'}{all+x}" ]; then all=$(packages); fi
      row=$(printf '%s\n' "$all" | grep -F -m1 -- " |$d|") || row=
      if [ -n "$row" ]; then echo "$n status ${'$'}{row%% |*}"; echo "$n version ${'$'}{row##*|}"; else
        echo "$n status none"
        if [ -z "${'$'}{others+x}" ]; then others=$(provided); fi
        if printf '%s\n' "$others" | grep -Fxq -- "$d"; then echo "$n provided 1"; fi
      fi ;;
    unit)
      dec "$1"
      systemctl show -p LoadState -p ActiveState -p UnitFileState -- "$d" 2>/dev/null | while IFS='=' read -r k v; do
        case $k in LoadState) echo "$n load $v" ;; ActiveState) echo "$n active $v" ;; UnitFileState) echo "$n enabled $v" ;; esac
      done
      echo "$n asked 1" ;;
    sysctl)
      dec "$1"; p=/proc/sys/$(printf %s "$d" | tr ./ /.)
      if [ -r "$p" ]; then v=$(cat "$p" 2>/dev/null | tr '\t' ' '); b64 "$n" value "$v"; else echo "$n asked 1"; fi ;;
    module)
      dec "$1"; m=$(printf %s "$d" | tr - _)
      b=/lib/modules/$(uname -r)/modules.builtin
      # One that is part of the kernel is not always to be seen among the modules.
      if [ -d "/sys/module/$m" ]; then echo "$n loaded 1"
      elif [ -r "$b" ] && tr - _ <"$b" | grep -q "/$m\.ko"; then echo "$n loaded 1"; else echo "$n loaded 0"; fi ;;
    run)
      k=$#; i=0
      while [ "$i" -lt "$k" ]; do dec "$1"; shift; set -- "$@" "$d"; i=$((i + 1)); done
      o=$(timeout 15 "$@" 2>/dev/null </dev/null; echo "x$?")
      c=${'$'}{o##*x}; o=${'$'}{o%x*}; echo "$n code $c"
      if [ ${'$'}{#o} -gt 0 ]; then b64 "$n" out "$o"; fi ;;
    marks) for f in /var/lib/croft/items/*; do [ -f "$f" ] || continue; printf '%s mark :' "$n"; base64 <"$f" | tr -d '\n'; echo; done ;;
    boot)
      echo "$n id $(cat /proc/sys/kernel/random/boot_id)"; echo "$n cpus $(nproc)"
      while read -r k v x; do case $k in MemTotal:) echo "$n memory $v" ;; MemAvailable:) echo "$n free $v" ;; esac; done </proc/meminfo
      read -r l x </proc/loadavg; echo "$n load $l"; b64 "$n" sensors "$(sensors)" ;;
  esac
done
echo end
`
