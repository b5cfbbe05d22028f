#!/bin/sh
# What must be in order before K3s may start. Each gate has a name and a deadline; one that does not open ends this
# program with an error, so that K3s, which requires it, does not start.
set -u
root=${CROFT_ROOT:-}
settings=$root/etc/croft/gates
config=$root/etc/rancher/k3s/config.yaml
state=$root/run/croft/gates.json
data=$root/var/lib/rancher/k3s
node=$root/usr/local/lib/croft/node

setting() { sed -n "s/^$1=//p" "$settings" 2>/dev/null | head -n 1; }

# config.yaml is written one key to a line, as JSON.
configured() { sed -n "s/^\"\{0,1\}$1\"\{0,1\}: *\"\{0,1\}\([^\"]*\)\"\{0,1\} *$/\1/p" "$config" 2>/dev/null | head -n 1; }

uptime() { cut -d . -f 1 "$root/proc/uptime"; }

clean() { printf %s "$1" | tr -cd '[:alnum:] .,:;/_@%+()-' | cut -c 1-300; }

# What is read by the facts: the gate that is waited for, since when, and why.
tell() {
  mkdir -p "$root/run/croft"
  printf '[{"name":"%s","message":"%s","sinceMs":%s000}]\n' "$1" "$(clean "$2")" "$3" >"$state.new"
  mv "$state.new" "$state"
}

# A name, not an address.
is_name() { case $1 in '' | *:*) return 1 ;; *[!0-9.]*) return 0 ;; *) return 1 ;; esac }

api_host() {
  url=$(configured server)
  host=${url#https://}
  case $host in \[*) echo ;; *) echo "${host%%:*}" ;; esac
}

gate_route() {
  [ -n "$(ip -o -4 route show default 2>/dev/null)$(ip -o -6 route show default 2>/dev/null)" ] && return 0
  echo 'there is no default route'
  return 1
}

gate_dns() {
  for name in $(setting dns_name) $(api_host); do
    is_name "$name" || continue
    getent ahosts "$name" >/dev/null 2>&1 && continue
    # Behind systemd-resolved stand the real ones.
    asked=$(sed -n 's/^nameserver *//p' "$root/run/systemd/resolve/resolv.conf" 2>/dev/null | tr '\n' ' ')
    [ -n "$asked" ] || asked=$(sed -n 's/^nameserver *//p' "$root/etc/resolv.conf" 2>/dev/null | tr '\n' ' ')
    echo "no answer for $name from ${asked:-no resolver at all}"
    return 1
  done
  return 0
}

gate_clock() {
  [ "$(timedatectl show -p NTPSynchronized --value 2>/dev/null)" = yes ] && return 0
  if [ "$(timedatectl show -p NTP --value 2>/dev/null)" != yes ]; then
    # Nobody keeps the time here: then it must at least not be the time of a clock that was never set.
    [ "$(date +%s)" -ge 1767225600 ] && return 0
    echo "the clock says $(date -u +%Y-%m-%d) and no time service is switched on"
    return 1
  fi
  echo 'the clock is not synchronised yet'
  return 1
}

gate_hostname() {
  wanted=$(configured node-name)
  [ -n "$wanted" ] || wanted=$(setting hostname_wanted)
  is=$(hostname 2>/dev/null)
  [ -z "$wanted" ] || [ "$is" = "$wanted" ] && return 0
  echo "the host calls itself $is and not $wanted"
  return 1
}

gate_api() {
  url=$(configured server)
  [ -n "$url" ] || return 0
  if command -v curl >/dev/null 2>&1; then
    curl -ks -o /dev/null --noproxy '*' --connect-timeout 5 --max-time 10 "$url/ping" && return 0
  elif command -v wget >/dev/null 2>&1; then
    wget -q --no-proxy --no-check-certificate -T 5 -t 1 -O /dev/null "$url/ping"
    # 8: it answered, and said no. That is an answer.
    case $? in 0 | 8) return 0 ;; esac
  else
    echo 'neither curl nor wget is here to ask with'
    return 1
  fi
  echo "no answer from $url"
  return 1
}

pass() {
  deadline=$(setting "$1")
  case $deadline in off | '') return 0 ;; esac
  begun=$(uptime)
  while :; do
    why=$("gate_$1") && return 0
    waited=$(($(uptime) - begun))
    since=$(($(date +%s) - waited))
    if [ "$waited" -ge "$deadline" ]; then
      tell "$1" "$why; given up after $deadline s" "$since"
      echo "croft gate $1: $(clean "$why"); given up after $deadline s" >&2
      exit 1
    fi
    tell "$1" "$why; at most $deadline s" "$since"
    sleep 2
  done
}

# What lies on the disk, which croft's program knows: an older one ends with another code. Nothing to wait for.
[ ! -x "$node" ] || why=$("$node" may-start)
if [ $? -eq 3 ]; then
  tell disk "$why" "$(date +%s)"
  echo "croft gate disk: $(clean "$why")" >&2
  exit 1
fi
# A member that comes back must not wait for others that wait for it: after the first join only its own name counts.
if [ -d "$data/server/db/etcd" ] || [ -e "$data/agent/client-kubelet.crt" ]; then
  gates=hostname
else
  gates='route dns clock hostname api'
fi
for gate in $gates; do pass "$gate"; done
mkdir -p "$root/run/croft"
echo '[]' >"$state.new"
mv "$state.new" "$state"
