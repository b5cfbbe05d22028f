#!/bin/sh
# croft: the small program on every node of a K3s cluster. It is asked by croft over SSH or the guest agent, answers
# one line of JSON within seconds, and begins what takes longer as a job of systemd. Every verb can be repeated.
# Nothing that is handed to it is ever taken as a command: input is matched against what it may be, or refused.
set -u
umask 077
LC_ALL=C
# CROFT_ROOT is for tests: another root, with programs of its own. Nothing sets it on a node.
root=${CROFT_ROOT:-}
PATH=${root:+$root/test-bin:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH

own=$root/usr/local/lib/croft
bin=$root/usr/local/bin
data=$root/var/lib/rancher/k3s
etc=$root/etc/rancher/k3s
units=$root/etc/systemd/system
run=$root/run/croft
input_limit=4194304
# Files of croft that a declaration may stop asking for. Croft has the same list.
optional_files='/etc/rancher/k3s/registries.yaml /var/lib/rancher/k3s/server/manifests/croft-kube-vip.yaml
/var/lib/rancher/k3s/server/manifests/croft-backup.json /etc/systemd/system/croft-backup.mount
/etc/systemd/system/k3s.service.d/20-croft-backup.conf'
# Blocks of 512 bytes: no release is larger than a quarter of it.
file_limit=1048576
# So many of croft's own snapshots are on a server: one from before each server of an upgrade.
own_snapshots=7
# A disk with less room is full for K3s and etcd, in KiB.
full_kb=131072

main() {
  verb=${1:-}
  now=$(now_ms)
  [ $# -gt 0 ] && shift
  case $verb in
    facts) facts ;;
    put) read_input; put_files "$input" "$root" && remove_files "$input" && ok ;;
    install) read_input; install_begin ;;
    start) read_input; start_service ;;
    stop) stop_service ;;
    restart) restart_service "${1:-}" "${2:-}" ;;
    wipe) job_begin wipe ;;
    snapshot) snapshot_begin "${1:-}" ;;
    restore) read_input; restore_begin ;;
    forget-db) forget_db ;;
    token-of) token_of "${1:-}" "${2:-}" ;;
    backups) backups "${1:-}" ;;
    measure) measure "${1:-}" ;;
    piece) piece "${1:-}" "${2:-}" "${3:-}" ;;
    taken) taken "${1:-}" ;;
    take) take "${1:-}" "${2:-}" ;;
    keep) keep "${1:-}" "${2:-}" ;;
    remove-member) remove_member "${1:-}" ;;
    rotate-token) read_input; rotate_token ;;
    rotate-keys) job_begin rotate-keys ;;
    rotate-ca) read_input; rotate_ca ;;
    renew-certificates) job_begin renew-certificates ;;
    leave) leave ;;
    may-start) may_start ;;
    joined) joined ;;
    job) job_run "${1:-}" ;;
    *) fail "there is no verb $verb" ;;
  esac
}

# --- answers -----------------------------------------------------------------------------------------------------

# Printable ASCII only, quoted for JSON, not endless.
clean() { printf %s "$1" | tr '\t\n\r' '   ' | tr -cd '\040-\176' | cut -c 1-500 | sed 's/\\/\\\\/g; s/"/\\"/g'; }
ok() { echo '{"ok":true}'; }
fail() {
  printf '{"ok":false,"error":"%s"}\n' "$(clean "$1")"
  exit 1
}

# --- input -------------------------------------------------------------------------------------------------------

read_input() {
  input=$(head -c "$input_limit" | tr -d '\n\r')
  [ -n "$input" ] || fail 'the input is missing'
}

# The text of a field in flat JSON; only what is matched by the pattern comes out.
field() { printf '%s\n' "$1" | sed -n 's,^.*"'"$2"'":"\('"$3"'\)".*$,\1,p'; }

# Milliseconds where the date of the system knows them.
now_ms() {
  at=$(date +%s%3N)
  case $at in *[!0-9]*) at=$(date +%s)000 ;; esac
  echo "$at"
}

# When a process began, in hundredths of a second on the kernel's one clock: wall clocks jump, /proc/uptime may be that of
# a container and systemd leaves out sleep. `self` is the program that reads it, so it began now.
ticks() {
  # shellcheck disable=SC2046
  set -- $(sed -n 's/^.*) //p' "$root/proc/$1/stat" 2>/dev/null)
  [ $# -ge 20 ] || return 1
  shift 19
  echo "$1"
}
# How old a moment of this boot is, in milliseconds. Fails for what is no such moment.
age_of() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  at=$(ticks self) && [ "$1" -le "$at" ] && echo $(((at - $1) * 10))
}
# The wall clock of this look at the age of a moment; 0 where it has none.
since_ticks() { if age=$(age_of "$1"); then echo $((now - age)); else echo 0; fi; }
since_process() { since_ticks "$(ticks "$1")"; }
# What systemd wrote on the wall clock, and never before this boot.
since_wall() {
  [ -n "$1" ] && at=$(date -d "$1" +%s 2>/dev/null) || { echo 0; return; }
  at=$((at * 1000))
  [ "$at" -le "$now" ] || at=$now
  if up=$(ticks self) && [ "$at" -lt $((now - up * 10)) ]; then at=$((now - up * 10)); fi
  echo "$at"
}

# Writes each file under another name first, so that nobody ever sees half of one or one with wider rights.
put_files() {
  case $1 in *'"files":[],"absent":["'*) return 0 ;; esac
  given=$(printf %s "$1" | grep -o '"path":' | wc -l)
  count=0
  remount=
  # One record to a line. Nothing in a record may hold a brace, or it is not matched below.
  records=$(printf %s "$1" | tr '{' '\n' | grep '"path":')
  while IFS= read -r record; do
    path=$(field "$record" path '[A-Za-z0-9_@.:/+-]*')
    mode=$(field "$record" mode '0[0-7][0-7][0-7]')
    content=$(field "$record" base64 '[A-Za-z0-9+/]*=*')
    case $path in
      '' | *..* | *//* | */) fail "the path of a file may not be used: $path" ;;
      /etc/rancher/* | /var/lib/rancher/k3s/* | /etc/croft/* | /usr/local/lib/croft/*) ;;
      /etc/systemd/system/croft-* | /etc/systemd/system/k3s*.service.d/*) ;;
      /etc/modules-load.d/croft-* | /etc/sysctl.d/*croft*) ;;
      *) fail "the path of a file may not be used: $path" ;;
    esac
    [ -n "$mode" ] || fail "the mode of $path may not be used"
    case $record in *'"base64":""'*) ;; *) [ -n "$content" ] || fail "the content of $path is not base64" ;; esac
    case $path in
      */croft-backup.mount)
        [ "$(printf %s "$content" | base64 -d | sha256sum)" = "$(sha256sum 2>/dev/null <"$2$path")" ] || remount=$2$path ;;
    esac
    put_file "$2$path" "$mode" "$content" || fail "$path could not be written"
    count=$((count + 1))
  done <<RECORDS
$records
RECORDS
  [ "$count" -eq "$given" ] && [ "$count" -gt 0 ] || fail 'the list of files is not as it should be'
  [ -z "$remount" ] || mount_again "$remount"
}

# K3s only wants the mount: a new text of it is in force when systemd has read it and mounted again. The file is how the
# next look sees that it was.
mount_again() {
  { timeout 20 systemctl daemon-reload && timeout 20 systemctl --no-block restart "${1##*/}"; } >/dev/null 2>&1 && return 0
  rm -f "$1"
  fail "systemd did not take ${1##*/}"
}

# Croft's own by name; registries.yaml by the way in which croft alone begins it.
is_own_file() {
  case $1 in
    */registries.yaml) [ "$(head -c 11 "$root$1" 2>/dev/null)" = '{"mirrors":' ] ;;
    *) [ -f "$root$1" ] ;;
  esac
}

remove_files() {
  for path in $optional_files; do
    case $1 in *'"absent":['*"\"$path\""*']}') is_own_file "$path" || continue ;; *) continue ;; esac
    case $path in *.mount) timeout 20 systemctl disable --now --no-block "${path##*/}" >/dev/null 2>&1 ;; esac
    rm -f "$root$path" || fail "$path could not be removed"
  done
}

put_file() {
  (umask 022 && mkdir -p "$root/var/lib/rancher/k3s" "$root/etc/rancher/k3s") || return 1
  case $1 in */var/lib/rancher/* | */etc/rancher/*) mkdir -p "${1%/*}" ;; *) (umask 022 && mkdir -p "${1%/*}") ;; esac || return 1
  new=$1.croft-new
  rm -f "$new"
  printf %s "$3" | base64 -d >"$new" && chmod "$2" "$new" && sync "$new" && mv -f "$new" "$1" && return 0
  rm -f "$new"
  return 1
}

# --- jobs: what takes longer than an answer may --------------------------------------------------------------------

# One at a time. What it needs to know lies in a file that only root can read.
job_begin() {
  mkdir -p "$run"
  if job_active; then
    [ "$(job_field name)" = "$1" ] && ok && return
    fail "the job $(job_field name) is still running"
  fi
  printf '%s' "${2:-}" >"$run/order"
  job_note "$1" running "$(ticks self)" ''
  # A name of its own: a unit that stays loaded would keep every later job of its name from starting.
  unit=croft-job-$1-$(now_ms)-$$
  printf '%s' "$unit" >"$run/unit"
  if ! said=$(systemd-run --quiet --collect --unit="$unit" --property=Type=oneshot --no-block -- "$0" job "$1" 2>&1); then
    job_note "$1" failed "$(ticks self)" "systemd-run: $said"
    fail "the job $1 could not be started: $said"
  fi
  ok
}

job_note() {
  printf 'name=%s\nstate=%s\nsince=%s\nmessage=%s\n' "$1" "$2" "$3" "$(clean "$4")" >"$run/job.new"
  mv -f "$run/job.new" "$run/job"
}

job_field() { sed -n "s/^$1=//p" "$run/job" 2>/dev/null; }

job_active() {
  [ "$(job_field state)" = running ] || return 1
  case $(systemctl show "$(cat "$run/unit" 2>/dev/null).service" -p ActiveState -p Job 2>/dev/null) in
    # A busy system queues it first.
    *=active* | *=activating* | *=reloading* | *=deactivating* | *Job=[1-9]*) return 0 ;;
  esac
  # Begun a moment ago: systemd may not have come to it.
  age=$(age_of "$(job_field since)") && [ "$age" -lt 5000 ]
}

job_run() {
  since=$(job_field since)
  case $1 in
    install | wipe | snapshot | restore | rotate-keys | renew-certificates) ;;
    *) fail "there is no job $1" ;;
  esac
  if said=$("job_$(printf %s "$1" | tr - _)" 2>&1); then
    job_note "$1" 'done' "$since" ''
  else
    job_note "$1" failed "$since" "$(printf '%s\n' "$said" | tail -n 1)"
  fi
  rm -f "$run/order"
}

# --- install -----------------------------------------------------------------------------------------------------

install_begin() {
  version=$(field "$input" version 'v[0-9][0-9.]*+k3s[0-9]*')
  sha256=$(field "$input" sha256 '[0-9a-f]*')
  from=$(printf %s "$input" | sed -n 's/^.*"from":\[\([^]]*\)\].*$/\1/p' | tr ',' '\n' | sed -n 's/^"\([^"]*\)"$/\1/p')
  [ -n "$version" ] || fail 'the version may not be used'
  [ "${#sha256}" -eq 64 ] || fail 'the checksum is no SHA-256'
  [ -n "$from" ] || fail 'it is not said where K3s comes from'
  case $input in *'"beside":true'*) target=$(beside "$version") ;; *) target=$bin/k3s ;; esac
  job_begin install "$(printf '%s\n%s\n%s\n%s\n' "$version" "$sha256" "$target" "$from")"
}

job_install() {
  { read -r version; read -r sha256; read -r target; from=$(cat); } <"$run/order"
  mkdir -p "$bin" "$own"
  new=$bin/.k3s.croft-new
  # One that an earlier upgrade fetched and nobody wants any more.
  rm -f "$bin"/.k3s-v*.croft
  reasons=
  set -f
  for source in $from; do
    rm -f "$new"
    if why=$(fetch "$source" "$new" 2>&1); then
      if ! printf '%s  %s\n' "$sha256" "$new" | sha256sum -c >/dev/null 2>&1; then
        reasons="$reasons; $source has another checksum than $sha256"
      else
        chmod 0755 "$new"
        said=$(version_said "$new")
        if [ "$said" = "$version" ]; then
          sync "$new" && mv -f "$new" "$target" || return 1
          if [ "$target" = "$bin/k3s" ]; then in_place "$version"; else note_fetched "$version" "$sha256"; fi
          return 0
        fi
        reasons="$reasons; $source calls itself ${said:-nothing} and not $version"
      fi
    else
      reasons="$reasons; $source: $(printf '%s' "$why" | tail -n 1)"
    fi
  done
  rm -f "$new"
  free=$(df -Pk "$bin" 2>/dev/null | awk 'NR == 2 { print $4 }')
  case $free in '' | *[!0-9]*) ;; *) [ "$free" -ge 131072 ] || reasons="$reasons; only $free KiB are free below /usr/local/bin" ;; esac
  echo "K3s $version: ${reasons#; }"
  return 1
}

# A program that was fetched and proved beside the one that runs. Only the restart that is to run it puts it in place.
beside() { echo "$bin/.k3s-$1.croft"; }
fetched_version() { ls "$bin"/.k3s-v*.croft 2>/dev/null | sed -n 's,^.*/\.k3s-\(v[0-9A-Za-z.+-]*\)\.croft$,\1,p' | head -n 1; }
in_place() {
  for name in kubectl crictl ctr; do [ -e "$bin/$name" ] || ln -s k3s "$bin/$name"; done
  note_version "$1"
}
note_fetched() {
  printf '%s %s\n' "$1" "$2" >"$own/k3s-fetched.new" && mv -f "$own/k3s-fetched.new" "$own/k3s-fetched"
}
# Proved again: the file may have changed since it was fetched. What croft names counts more than what was noted here.
exchange_program() {
  case $1 in v*[!0-9A-Za-z.+-]* | [!v]*) fail 'the version may not be used' ;; esac
  case $2 in *[!0-9a-f]*) fail 'the checksum is no SHA-256' ;; esac
  new=$(beside "$1")
  if [ -f "$new" ]; then
    sum=${2:-$(sed -n "s/^$1 \([0-9a-f]*\)\$/\1/p" "$own/k3s-fetched" 2>/dev/null)}
    if [ "${#sum}" -ne 64 ] || ! printf '%s  %s\n' "$sum" "$new" | sha256sum -c >/dev/null 2>&1; then
      rm -f "$new"
      fail "the program of K3s $1 that was fetched has another checksum than ${sum:-any that is noted here} by now: it was deleted, and K3s was not restarted"
    fi
    mv -f "$new" "$bin/k3s" && sync "$bin" || fail "K3s $1 could not be put in place"
    in_place "$1"
  fi
  [ "$(installed_version)" = "$1" ] || fail "K3s $1 is not here"
}

# A file that is there, or an address. Never more than a release can be.
fetch() {
  case $1 in
    /*) [ -f "$root$1" ] || { echo 'there is no such file'; return 1; }
      cp "$root$1" "$2" ;;
    https://* | http://*)
      ulimit -f "$file_limit"
      if command -v curl >/dev/null 2>&1; then
        curl -fsSL --proto '=http,https' --max-redirs 5 --connect-timeout 15 --speed-limit 1024 --speed-time 60 \
          --max-time 3600 --retry 2 --max-filesize $((file_limit * 512)) -o "$2" -- "$1"
      elif command -v wget >/dev/null 2>&1; then
        wget -q --max-redirect=5 -T 60 -t 2 -O "$2" -- "$1"
      else
        echo 'neither curl nor wget is here to fetch it with'
        return 1
      fi ;;
    *) echo 'neither an address nor a file'; return 1 ;;
  esac
}

# K3s calls itself by the name of its file: `.k3s.croft-new version v1.36.3+k3s1 (…)`.
version_said() { timeout 20 "$1" --version 2>/dev/null | sed -n '1s/^[^ ]* version \(v[0-9A-Za-z.+-]*\).*/\1/p'; }

stamp() { stat -L -c '%i.%s.%Y' "$bin/k3s" 2>/dev/null; }
note_version() {
  printf '%s %s\n' "$(stamp)" "$1" >"$own/k3s-version.new" && mv -f "$own/k3s-version.new" "$own/k3s-version"
}

# Asking the program itself takes a while, so its answer is kept as long as the file is the same.
installed_version() {
  [ -x "$bin/k3s" ] || return 0
  kept=$(sed -n "s/^$(stamp) \(v[0-9A-Za-z.+-]*\)$/\1/p" "$own/k3s-version" 2>/dev/null)
  if [ -z "$kept" ]; then
    kept=$(version_said "$bin/k3s")
    mkdir -p "$own"
    [ -n "$kept" ] && note_version "$kept"
  fi
  printf %s "$kept"
}

# --- the service -------------------------------------------------------------------------------------------------

unit_places='etc/systemd/system run/systemd/system usr/local/lib/systemd/system usr/lib/systemd/system lib/systemd/system'
unit_of() { case $1 in server) echo k3s.service ;; agent) echo k3s-agent.service ;; esac; }
property() { systemctl show "$1" -p "$2" --value 2>/dev/null; }

# What a unit starts K3s as. Croft's own units are known by their names.
role_of_unit() {
  for place in $unit_places; do
    [ -f "$root/$place/$1" ] || continue
    words=$(sed -e ':a' -e '/\\$/N; s/\\\n/ /; ta' "$root/$place/$1" | sed -n 's,^ExecStart=[^ ]*/k3s[[:space:]],,p' | head -n 1)
    for word in $words; do
      case $word in -*) ;; server | agent) echo "$word"; return ;; *) break ;; esac
    done
    break
  done
  case $1 in k3s.service) echo server ;; k3s-agent.service) echo agent ;; esac
}

# Every unit that starts K3s, croft's own first: a package keeps its unit in /usr/lib, an installer calls it as it likes.
k3s_units() {
  for name in k3s.service k3s-agent.service $(for place in $unit_places; do
    grep -l '^ExecStart=[^ ]*/k3s\([[:space:]\\]\|$\)' "$root/$place"/*.service 2>/dev/null
  done | sed 's,.*/,,' | grep '^[A-Za-z0-9@._-]*[A-Za-z0-9._-]\.service$' | grep -v '^croft-\|^k3s\.service$\|^k3s-agent\.service$' | sort -u); do
    [ -z "$(role_of_unit "$name")" ] || echo "$name"
  done
}

# Sets unit, role, service, since: K3s as systemd knows it, else by its process. held_by names what croft did not start.
look_at_service() {
  unit='' role='' service=absent since=0 held_by=''
  for one in $(k3s_units); do
    unit_state "$one"
    case $service.$state in
      *.absent) [ -n "$unit" ] || [ ! -f "$units/$one" ] || unit=$one; continue ;;
      absent.* | *.running | *.starting) unit=$one service=$state since=$state_since ;;
    esac
    case $service in running | starting) break ;; esac
  done
  case $service in
    running | starting) ;;
    *)
      process=$(k3s_process)
      if [ -n "$process" ]; then
        service=running
        since=$(since_process "${process%% *}")
        role=${process#* }
        held_by="process ${process%% *} in ${role#* }"
        unit=${role#* }
        role=${role%% *}
        case $unit in *.service) ;; *) unit= ;; esac
      fi ;;
  esac
  [ -z "$unit" ] || [ -n "$role" ] || role=$(role_of_unit "$unit")
  case $unit in '' | k3s.service | k3s-agent.service) ;; *) held_by=$unit ;; esac
}

# "pid role unit" of a K3s that runs and is no job of croft's.
k3s_process() {
  grep -al k3s "$root"/proc/[0-9]*/cmdline 2>/dev/null | while IFS= read -r file; do
    set -f
    # shellcheck disable=SC2046
    set -- $(cat "$file" 2>/dev/null | tr '\0' ' ')
    first=${1:-}
    case "${first##*/} ${2:-}" in
      'k3s server' | 'k3s agent') kind=$2 ;;
      'k3s-server '*) kind=server ;;
      'k3s-agent '*) kind=agent ;;
      *) continue ;;
    esac
    pid=${file%/cmdline}
    pid=${pid##*/}
    where=$(sed -n 's#^.*/\([A-Za-z0-9@._-]*\.\(service\|scope\)\)\(/.*\)\{0,1\}$#\1#p' "$root/proc/$pid/cgroup" 2>/dev/null | head -n 1)
    case $where in croft-job-*) continue ;; esac
    echo "$pid $kind ${where:-no unit}"
    break
  done
}

# A port of the API or of etcd on which a program listens.
k3s_port() {
  cat "$root/proc/net/tcp" "$root/proc/net/tcp6" 2>/dev/null | awk '
    BEGIN { port["192B"] = 6443; port["192C"] = 6444; port["094B"] = 2379; port["094C"] = 2380; port["094D"] = 2381 }
    $4 == "0A" { sub(/^.*:/, "", $2); if ($2 in port) { print port[$2]; exit } }'
}

start_service() {
  role=$(field "$input" role 'server\|agent')
  wanted=$(unit_of "$role")
  [ -n "$wanted" ] || fail 'the role may not be used'
  [ -x "$bin/k3s" ] || fail 'K3s is not installed'
  mkdir -p "$units"
  look_at_service
  [ -z "$held_by" ] || [ "$service" != running ] || fail "K3s runs here already ($held_by)"
  for old in $(k3s_units); do
    [ "$old" != "$wanted" ] || continue
    systemctl disable --now "$old" >/dev/null 2>&1
    case $old in k3s.service | k3s-agent.service) rm -f "$units/$old" ;; esac
  done
  role=$(field "$input" role 'server\|agent')
  write_unit "$role"
  begin_unit "$wanted" start
}

write_unit() {
  new=$units/$(unit_of "$1").croft-new
  unit_text "$1" >"$new" && chmod 0644 "$new" && sync "$new" && mv -f "$new" "${new%.croft-new}" && sync "$units" ||
    fail 'the unit could not be written'
  systemctl daemon-reload || fail 'systemd could not read its units'
}

begin_unit() {
  mkdir -p "$run"
  ticks self >"$run/started"
  systemctl reset-failed "$1" >/dev/null 2>&1
  systemctl enable "$1" >/dev/null 2>&1
  said=$(systemctl "$2" --no-block "$1" 2>&1) || fail "systemctl $2 $1: $said"
  ok
}

# Everything that it runs with stands in config.yaml: a command line would be lost or doubled.
unit_text() {
  cat <<UNIT
[Unit]
Description=Lightweight Kubernetes ($1)
Documentation=https://k3s.io
Wants=network-online.target
After=network-online.target

[Install]
WantedBy=multi-user.target

[Service]
Type=notify
EnvironmentFile=-/etc/default/%N
EnvironmentFile=-/etc/sysconfig/%N
KillMode=process
Delegate=yes
User=root
LimitNOFILE=1048576
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStartPre=-/sbin/modprobe br_netfilter
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/k3s $1
UNIT
}

# Not enabled either: one that is put out of its cluster would come back by itself with the next boot.
stop_service() {
  look_at_service
  [ "$service" != running ] || [ -n "$unit" ] || fail "K3s runs here without a unit that could be stopped ($held_by)"
  [ -n "$unit" ] || { ok; return; }
  for one in $(k3s_units) "$unit"; do systemctl disable "$one" >/dev/null 2>&1; done
  said=$(systemctl stop --no-block "$unit" 2>&1) || fail "systemctl stop $unit: $said"
  ok
}

restart_service() {
  look_at_service
  [ -n "$unit" ] || fail 'K3s has no unit here'
  # A power cut may have left it empty.
  case $unit in k3s.service | k3s-agent.service) [ -s "$units/$unit" ] || [ ! -f "$units/$unit" ] || write_unit "$role" ;; esac
  [ -z "$1" ] || exchange_program "$1" "$2"
  begin_unit "$unit" restart
}

# --- leave -------------------------------------------------------------------------------------------------------

# Takes croft off the node, this program included. K3s is neither stopped nor started, and keeps its units and settings.
leave() {
  ! job_active || fail "the job $(job_field name) is still running"
  # systemd must forget that K3s requires the gates before their unit goes: stopping a required unit stops K3s.
  for one in k3s k3s-agent; do
    rm -f "$units/$one.service.d/10-croft-gates.conf"
    rmdir "$units/$one.service.d" 2>/dev/null
  done
  systemctl daemon-reload || fail 'systemd could not read its units'
  systemctl disable croft-gates.service >/dev/null 2>&1
  rm -f "$units/croft-gates.service" "$units/multi-user.target.wants/croft-gates.service"
  systemctl daemon-reload || fail 'systemd could not read its units'
  # K3s needs these settings at the next boot as well: they stay under a name that is not croft's.
  rename_if_free "$root/etc/sysctl.d/90-croft-k3s.conf" "$root/etc/sysctl.d/90-k3s.conf"
  rename_if_free "$root/etc/modules-load.d/croft-k3s.conf" "$root/etc/modules-load.d/k3s.conf"
  if [ -f "$etc/config.yaml" ]; then
    new=$etc/config.yaml.croft-new
    cp -p "$etc/config.yaml" "$new" && sed '1{/^# croft: /d;}' "$etc/config.yaml" >"$new" && sync "$new" &&
      mv -f "$new" "$etc/config.yaml" || fail 'config.yaml could not be written'
  fi
  rm -f "$bin"/.k3s-v*.croft "$bin/.k3s.croft-new"
  rm -rf "$root/etc/croft" "$run" "$own" || fail "croft's own files could not be deleted"
  ok
}

rename_if_free() { [ ! -f "$1" ] || [ -e "$2" ] || mv "$1" "$2" || fail "$1 could not be renamed"; }

# --- what may start ----------------------------------------------------------------------------------------------

# Asked by the gates each time before K3s starts: why it may not, or nothing. On the empty directory below a disk that is
# not there a first server would begin a second cluster, and a copy of a disk would vote beside the original.
may_start() {
  [ ! -e "$root/etc/croft/start-anyway" ] || { echo "croft: /etc/croft/start-anyway is there, so the disk was not looked at" >&2; return 0; }
  look_at_data
  if [ "$held" = none ]; then why=$(no_data); else why=$(not_its_data); fi
  [ -z "$why" ] || { echo "$why"; exit 3; }
}

# Why it proves nothing that nothing lies in the data directory.
no_data() (
  data=$(readlink -f "$data")
  away=$(unmounted_disk)
  if [ -n "$away" ]; then echo "$away stands in /etc/fstab and is not mounted"
  elif [ -f "$own/member" ]; then
    echo 'it was a server of its cluster and its data directory is empty: a disk may not be mounted'
  fi
)
not_its_data() {
  ca=$data/server/tls/server-ca.crt
  [ -f "$own/member" ] && [ -s "$ca" ] || return 0
  certificates <"$ca" | grep -qxF -f "$own/member" || { echo 'the data on its disk has another CA than the cluster that it was a server of'; return; }
  # A machine that was copied, restored or rolled back has another one. Alone it hurts nobody; beside others it votes with old data.
  then=$(sed -n 's/^generation //p' "$own/member")
  is=$(generation)
  [ -n "$then" ] && [ -n "$is" ] && [ "$then" != "$is" ] || return 0
  grep -qs '^"\{0,1\}server"\{0,1\}:' "$etc/config.yaml" || return 0
  echo 'its machine was copied, restored or rolled back since it was last a server beside others'
}

# A server that has started notes outside its data directory whose it is, where that has changed.
joined() {
  ca=$data/server/tls/server-ca.crt
  rm -f "$root/etc/croft/start-anyway"
  note=$(certificates 2>/dev/null <"$ca")
  [ -n "$note" ] || return 0
  is=$(generation)
  [ -z "$is" ] || note="$note
generation $is"
  [ "$note" != "$(cat "$own/member" 2>/dev/null)" ] || return 0
  mkdir -p "$own" && printf '%s\n' "$note" >"$own/member.new" && sync "$own/member.new" && mv -f "$own/member.new" "$own/member"
}

# The end of each certificate in a file, which is of its signature: a rotation under the same root keeps one of them.
certificates() { tr -d '\r' | awk '/^-----END/ && before != "" { print "ca " before last } { before = last; last = $0 }'; }
# The hypervisor gives a machine another one when it copies, restores or rolls it back.
generation() {
  file=$root/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw
  [ -r "$file" ] && od -An -v -tx1 -j 40 -N 16 "$file" 2>/dev/null | tr -d ' \n'
}

# --- wipe --------------------------------------------------------------------------------------------------------

# Everything of K3s goes but volumes, snapshots and images that came with the disk. Disks stay mounted and are emptied.
job_wipe() {
  named=$data
  data=$(readlink -f "$data")
  kubelet=$(readlink -f "$root/var/lib/kubelet")
  away=$(unmounted_disk)
  [ -z "$away" ] || { echo "$away stands in /etc/fstab and is not mounted, so nothing was deleted"; return 1; }
  all=$(k3s_units)
  for one in $all; do systemctl disable --now "$one" >/dev/null 2>&1; done
  living=$(k3s_process)
  [ -z "$living" ] || { echo "K3s still runs (process $living), so nothing was deleted"; return 1; }
  kill_containers || return 1
  living=$(user_of_datastore)
  [ -z "$living" ] || { echo "process $living still uses $data/server/db, so nothing was deleted"; return 1; }
  unmount_below /run/k3s "${kubelet#"$root"}/pods" "${kubelet#"$root"}/plugins" "${data#"$root"}/agent/containerd"
  left=$(mounts_below /run/k3s "${kubelet#"$root"}/pods" "${kubelet#"$root"}/plugins")
  # A volume that is still mounted would be emptied together with the directory.
  [ -z "$left" ] || { echo "still mounted, so nothing was deleted: $(printf '%s' "$left" | head -n 1)"; return 1; }
  mounted_before=$(mount_points)
  for link in cni0 flannel.1 flannel-v6.1 flannel-wg flannel-wg-v6 kube-ipvs0; do ip link delete "$link" 2>/dev/null; done
  [ -d "$root/var/run/cilium" ] || clean_rules
  for one in $all; do rm -f "$units/$one" "$units/$one.env"; done
  systemctl daemon-reload
  kept="$data/storage
$data/server/db/snapshots
$data/agent/images"
  empty "$root/etc/rancher" "$root/run/k3s" "$root/run/flannel" "$kubelet" "$root/etc/cni/net.d" "$data" || return 1
  rm -f "$run/started" "$own/member"
  [ "$(mount_points)" = "$mounted_before" ] || { echo "the disks below $data are not the same as before"; return 1; }
  look_at_data
  [ "$held" = none ] || { echo "$data still holds data of K3s"; return 1; }
  mkdir -p "$own" && echo $(($(wipes) + 1)) >"$own/wipes.new" && sync "$own/wipes.new" && mv -f "$own/wipes.new" "$own/wipes"
}

# Counted where neither a wipe nor a restore of the cluster reaches.
wipes() { sed -n '1s/^\([0-9]\{1,9\}\)$/\1/p' "$own/wipes" 2>/dev/null | grep . || echo 0; }

# A disk that belongs at, above or below the data directory and is not there: what lies on it would outlive the wipe.
unmounted_disk() {
  awk '$1 !~ /^#/ && $2 ~ /^\/./ && $3 != "swap" && $4 !~ /(^|,)noauto(,|$)/ { print $2 }' "$root/etc/fstab" 2>/dev/null |
    while IFS= read -r at; do
      at=${at%/}
      case $root$at in "$data" | "$data"/*) ;; *) case $data in "$root$at"/*) ;; *) continue ;; esac ;; esac
      is_listed "$root$at" "$(mount_points)" || { echo "$at"; break; }
    done
}

mount_points() { awk '{ print $2 }' "$root/proc/self/mounts" 2>/dev/null | sort -u; }
is_listed() { printf '%s\n' "$2" | grep -qxF -e "$1"; }
mounts_below() { for below; do mount_points | awk -v below="$root$below/" 'index($0, below) == 1'; done | sort -r -u; }
unmount_below() {
  { mounts_below "$@"; mount_points | grep "^$root/run/netns/cni-"; } | while IFS= read -r mounted; do
    umount "$mounted" 2>/dev/null || umount -l "$mounted" 2>/dev/null
  done
}

# Deletes what is in directories, and each that is empty then. What is mounted in them stays mounted and is emptied.
empty() {
  one_disk=
  ! rm -rf --one-file-system "$run/nothing" 2>/dev/null || one_disk=--one-file-system
  stays=$(printf '%s\n' "${kept:-}"; mount_points)
  for top; do
    [ -d "$top" ] || continue
    (empty_in "$top") || return 1
    rmdir "$top" 2>/dev/null
  done
  return 0
}
empty_in() {
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    ! is_listed "$entry" "${kept:-}" || continue
    if [ ! -L "$entry" ] && printf '%s\n' "$stays" | awk -v at="$entry" '$0 == at || index($0, at "/") == 1 { found = 1 } END { exit !found }'; then
      (empty_in "$entry") || return 1
      rmdir "$entry" 2>/dev/null
    else
      rm -rf $one_disk "$entry" || return 1
    fi
  done
}

# What K3s had started goes on without it: every shim with all its descendants (a container leads a session of its own),
# and every process in the control groups of pods.
kill_containers() {
  tries=0
  while pids=$(pod_processes) && [ -n "$pids" ]; do
    [ "$tries" -lt 15 ] || { echo "processes of pods still run, so nothing was deleted: $pids"; return 1; }
    [ "$tries" -eq 0 ] || sleep 1
    # shellcheck disable=SC2086
    kill -9 $pids 2>/dev/null
    tries=$((tries + 1))
  done
}
pod_processes() {
  first=$({
    grep -al '/data/[^/]*/bin/containerd-shim' "$root"/proc/[0-9]*/cmdline | while IFS= read -r file; do
      # The program itself, and not an editor or a shell in whose arguments it stands.
      case $(tr '\0' '\n' <"$file" | head -n 1) in
        "$data"/data/*/bin/containerd-shim* | "$named"/data/*/bin/containerd-shim*) file=${file%/cmdline}; echo "${file##*/}" ;;
      esac
    done
    for group in "$root"/sys/fs/cgroup/kubepods* "$root"/sys/fs/cgroup/*/kubepods*; do
      [ ! -d "$group" ] || find "$group" -name cgroup.procs -exec cat {} +
    done
  } 2>/dev/null | tr '\n' ' ')
  cat "$root"/proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) \([A-Za-z]\) \([0-9]*\) .*/\1 \3 \2/p' |
    awk -v first="$first" '
      BEGIN { count = split(first, list, " "); for (i = 1; i <= count; i++) mark[list[i]] }
      { parent[$1] = $2; state[$1] = $3 }
      END {
        do { more = 0; for (pid in parent) if (!(pid in mark) && (parent[pid] in mark)) { mark[pid]; more = 1 } } while (more)
        for (pid in mark) if (pid > 1 && (pid in parent) && state[pid] != "Z") printf "%s ", pid
      }'
}

# A process that has a file of the datastore open. Who reads snapshots or logs keeps nothing alive.
user_of_datastore() {
  ls -l "$root"/proc/[0-9]*/fd 2>/dev/null | awk -v db="$data/server/db/" '
    /\/fd:$/ { sub(/\/fd:$/, ""); sub(/^.*\//, ""); pid = $0; next }
    index($0, "-> " db) && !index($0, "-> " db "snapshots/") { print pid; exit }'
}

clean_rules() {
  for tables in iptables ip6tables; do
    command -v "$tables-save" >/dev/null 2>&1 || continue
    "$tables-save" | grep -v 'KUBE-\|CNI-\|flannel' | "$tables-restore" 2>/dev/null
  done
}

# --- snapshots and restore -----------------------------------------------------------------------------------------

snapshot_begin() {
  case $1 in '' | *[!A-Za-z0-9._-]* | -* | .*) fail 'the name of the snapshot may not be used' ;; esac
  job_begin snapshot "$1"
}
stands_still() {
  look_at_service
  case $service in running | starting) fail "K3s still runs here${held_by:+ ($held_by)}" ;; esac
}
# The oldest go first, so that a full disk has room for the new one.
job_snapshot() {
  prune_own >/dev/null 2>&1
  timeout 1800 "$bin/k3s" etcd-snapshot save --name "$(cat "$run/order")"
}

# K3s prunes only what it took by its schedule. Deletes croft's own of this node but the newest, told by their whole name:
# when croft asked, the node, and K3s's own time.
prune_own() {
  node=$(sed -n 's/^"\{0,1\}node-name"\{0,1\}: *"\{0,1\}\([A-Za-z0-9.-]*\)"\{0,1\} *$/\1/p' "$etc/config.yaml" | head -n 1)
  [ -n "$node" ] || return 0
  surplus=$(snapshot_files | sed 's,^.*/,,' | grep "^croft-[0-9]\{10\}-$(printf %s "$node" | sed 's/\./\\./g')-[0-9]\{10\}\(\.zip\)\{0,1\}$" |
    sort -r | tail -n "+$own_snapshots")
  # shellcheck disable=SC2086
  [ -z "$surplus" ] || timeout 300 "$bin/k3s" etcd-snapshot delete $surplus
}

# A share of the network is mounted when K3s starts, and K3s may not have started yet.
mount_share() {
  [ -f "$units/croft-backup.mount" ] || return 0
  systemctl daemon-reload && timeout 30 systemctl start croft-backup.mount >/dev/null 2>&1
}

# Where backups are listed and read: below a directory, or on a share that no unit has mounted here yet. The share is
# mounted read-only for this one question.
open_backups() {
  case $1 in
    '' | *[!A-Za-z0-9_@.:/+-]* | *..*) fail "the place $1 may not be used" ;;
    /*) folder=$root$1 ;;
    [A-Za-z0-9]*:/*)
      mount_share
      folder=$root/croft/backup
      [ -f "$units/croft-backup.mount" ] && return 0
      folder=$run/share
      mkdir -p "$folder"
      said=$(timeout 30 mount -t nfs -o ro,soft,timeo=100 "$1" "$folder" 2>&1) ||
        fail "$1 could not be mounted: $(printf '%s' "$said" | tail -n 1)"
      trap close_backups EXIT ;;
    *) fail "the place $1 may not be used" ;;
  esac
}
close_backups() { umount "$run/share" >/dev/null 2>&1 || umount -l "$run/share" >/dev/null 2>&1; }

backups() {
  open_backups "$1"
  case $1 in /*) where=$1 ;; *) where=/croft/backup ;; esac
  printf '{"ok":true,"snapshots":['
  list_snapshots "$folder" "$where"
  printf ']}\n'
}

restore_begin() {
  rm -f "$run/restore-s3.yaml"
  settings=$(field "$input" s3 '[A-Za-z0-9+/]*=*')
  if [ -n "$settings" ]; then
    name=$(field "$input" snapshot '[A-Za-z0-9][A-Za-z0-9._-]*')
    [ -n "$name" ] || fail 'the name of the snapshot may not be used'
    stands_still
    mkdir -p "$run"
    printf %s "$settings" | base64 -d | grep '^"etcd-s3[a-z-]*": ' >"$run/restore-s3.yaml" || fail 'what is said of S3 cannot be read'
    job_begin restore "$name"
    return
  fi
  path=$(field "$input" snapshot '/[A-Za-z0-9_@.:/+-]*')
  case $path in '' | *..*) fail 'the path of the snapshot may not be used' ;; esac
  mount_share
  [ -f "$root$path" ] || fail "there is no snapshot $path"
  stands_still
  job_begin restore "$root$path"
}

# The exit code proves nothing, its words do. With the address of another server it would refuse to begin. A disk that
# never held this cluster has no token, and K3s looks at the token itself, not at the file that its configuration names:
# it gets it by its environment, which root alone can read, and not as an argument. The configuration's own words on S3 name
# a Secret that it cannot read yet: they are left out, and for a snapshot that lies there croft's stand in their place, in
# a file of root.
job_restore() {
  grep -v '^"\{0,1\}\(server\|cluster-init\|etcd-s3[a-z0-9-]*\)"\{0,1\}:' "$etc/config.yaml" >"$run/restore.yaml"
  [ ! -f "$run/restore-s3.yaml" ] || cat "$run/restore-s3.yaml" >>"$run/restore.yaml"
  rm -f "$data/server/db/reset-flag" "$own/member"
  K3S_TOKEN=$(cat "$etc/token" 2>/dev/null)
  if [ -n "$K3S_TOKEN" ]; then export K3S_TOKEN; else unset K3S_TOKEN; fi
  timeout 1800 "$bin/k3s" server --config "$run/restore.yaml" --cluster-reset \
    --cluster-reset-restore-path="$(cat "$run/order")" >"$run/restore.log" 2>&1
  unset K3S_TOKEN
  rm -f "$run/restore.yaml" "$run/restore-s3.yaml"
  grep -q 'Managed etcd cluster membership has been reset' "$run/restore.log" && return 0
  grep 'level=fatal\|level=error' "$run/restore.log" | tail -n 1
  return 1
}

# K3s keeps its own secrets in etcd under /bootstrap/ and the hash of the token that opens them, and a snapshot has that
# key: nobody has to know which token it was taken with. Pages that were given up, and former values, are in the file as
# well, so the newest revision of each key counts, and not whether it is found. In the file stand, one behind the other:
# the revision (8 bytes, _, 8 bytes, and t where the key was deleted), then 0a 17, the key, and 10 where it has a value.
token_of() {
  read_path "$1"
  mount_share
  file=$root$1
  case $2 in *:/*) open_backups "$2"; file=$folder/${1##*/} ;; esac
  [ -f "$file" ] || fail "there is no snapshot $1"
  unpacked=
  case $file in *.zip)
    unpack "$file" "${file%/*}/.croft-unpacked" || fail "$1 could not be unpacked"
    unpacked=${file%/*}/.croft-unpacked
    file=$unpacked ;;
  esac
  printf x | grep -qabo x 2>/dev/null || fail 'the grep of this system cannot look into a snapshot'
  found=$(bootstrap_keys "$file" | sort | awk '{ state[$2] = $3; if ($3 == "kept") at[$2] = NR }
    END { for (key in at) if (state[key] == "kept" && at[key] > best) { best = at[key]; newest = key } print newest }')
  [ -n "$unpacked" ] && rm -f "$unpacked"
  [ -n "$found" ] || fail "$1 does not say which token it was taken with"
  printf '{"ok":true,"tokenHash":"%s"}\n' "$found"
}
# Others may write where backups lie: a link that waits there for root is no place to write to, and what unpacks to more
# than half of the free space is left alone.
unpack() {
  rm -f "$2"
  most=$(df -Pk "${2%/*}" | awk 'NR == 2 { print int($4 / 2) }')
  number "$most"
  (set -C && ulimit -f "$most" && gzip -cd <"$1" >"$2") 2>/dev/null && return 0
  rm -f "$2"
  return 1
}
# The key follows a 0a, which is the end of a line to grep. One line for each: revision, hash, kept or deleted.
bootstrap_keys() {
  grep -abo "^$(printf '\027')/bootstrap/[0-9a-f]\{12\}" "$1" | head -n 1000 | while IFS=: read -r at key; do
    [ "$at" -gt 18 ] || continue
    before=$(bytes_at "$1" $((at - 19)) 18)
    case $before in
      ????????????????5f????????????????74) echo "${before%74} ${key##*/} deleted" ;;
      ??????????????????5f????????????????) [ "$(bytes_at "$1" $((at + 24)) 1)" = 10 ] && echo "${before#??} ${key##*/} kept" ;;
    esac
  done
}
bytes_at() { tail -c "+$(($2 + 1))" "$1" | head -c "$3" | od -An -v -tx1 | tr -d ' \n'; }

# Snapshots lie in the same directory, and stay. What K3s keeps in its datastore beside the objects (CAs, passwords, the
# keys of the encryption) goes too: files that are newer than the datastore's end its start. It writes them anew.
forget_db() {
  stands_still
  data=$(readlink -f "$data")
  kept=$data/server/db/snapshots
  rm -f "$own/member"
  empty "$data/server/db" "$data/server/cred" "$data/server/tls" || fail "the datastore of K3s below $data/server could not be deleted"
  ok
}

# --- copies of snapshots, of any size, in pieces -------------------------------------------------------------------

read_path() {
  case $1 in '' | *[!A-Za-z0-9_@.:/+-]* | *..* | *//* | */) fail "the path $1 may not be used" ;; esac
  case $1 in /*) ;; *) fail "the path $1 may not be used" ;; esac
}
copy_path() {
  read_path "$1"
  case $1 in /var/lib/rancher/k3s/server/db/snapshots/*/*) fail "the path $1 may not be used" ;; esac
  case $1 in /var/lib/rancher/k3s/server/db/snapshots/*) ;; *) fail "the path $1 may not be used" ;; esac
}
number() { case $1 in '' | *[!0-9]*) fail 'a number is missing' ;; esac; }
bytes_of() { if [ -f "$1" ]; then stat -L -c %s "$1"; else echo 0; fi; }

measure() {
  read_path "$1"
  [ -f "$root$1" ] || fail "there is no file $1"
  printf '{"ok":true,"bytes":%s,"sha256":"%s"}\n' "$(bytes_of "$root$1")" "$(sha256sum <"$root$1" | cut -c 1-64)"
}

piece() {
  read_path "$1"
  number "$2"
  number "$3"
  [ -f "$root$1" ] || fail "there is no file $1"
  printf '{"ok":true,"base64":"%s"}\n' "$(tail -c "+$(($2 + 1))" "$root$1" | head -c "$3" | base64 | tr -d '\n')"
}

taken() {
  copy_path "$1"
  printf '{"ok":true,"bytes":%s}\n' "$(bytes_of "$root$1.croft-part")"
}

take() {
  copy_path "$1"
  number "$2"
  part=$root$1.croft-part
  (umask 022 && mkdir -p "$root/var/lib/rancher/k3s") && mkdir -p "${part%/*}" || fail "${1%/*} could not be made"
  [ "$2" -eq 0 ] && rm -f "$part"
  have=$(bytes_of "$part")
  [ "$have" -eq "$2" ] || fail "$have bytes of $1 are here, and a piece from $2 was sent"
  if ! said=$(base64 -d 2>&1 >>"$part"); then
    truncate -s "$have" "$part" 2>/dev/null || rm -f "$part"
    fail "a piece of $1 could not be written: $said"
  fi
  printf '{"ok":true,"bytes":%s}\n' "$(bytes_of "$part")"
}

keep() {
  copy_path "$1"
  part=$root$1.croft-part
  [ -f "$part" ] || fail "nothing of $1 was taken"
  if [ "$(sha256sum <"$part" | cut -c 1-64)" != "$2" ]; then
    rm -f "$part"
    fail "what arrived of $1 has another checksum than $2"
  fi
  chmod 0600 "$part" && sync "$part" && mv -f "$part" "$root$1" || fail "$1 could not be written"
  ok
}

# --- rotation ----------------------------------------------------------------------------------------------------

# Over the address that `k3s token rotate` uses itself, because a token in its arguments is seen by everybody.
rotate_token() {
  token=$(field "$input" token '[A-Za-z0-9]*')
  [ "${#token}" -ge 16 ] || fail 'the token may not be used'
  password=$(sed -n 's/^K10[0-9a-f]*::server://p' "$data/server/token" 2>/dev/null)
  [ -n "$password" ] || fail 'the present token cannot be read'
  [ "$password" = "$token" ] && { ok; return; }
  said=$(printf 'user = "server:%s"\ndata = "{\\"newToken\\":\\"%s\\"}"\n' "$password" "$token" |
    curl -fsS -K - -X PUT --noproxy '*' --max-time 60 --cacert "$data/server/tls/server-ca.crt" \
      -H 'Content-Type: application/json' https://127.0.0.1:6443/v1-k3s/token 2>&1) || fail "the token was not rotated: $said"
  ok
}

job_rotate_keys() { timeout 3600 "$bin/k3s" secrets-encrypt rotate-keys; }

# Only where K3s stands still are its certificates exchanged. It is started again in any case: what it needs it makes.
job_renew_certificates() {
  look_at_service
  [ -n "$unit" ] || { echo 'K3s has no unit here'; return 1; }
  systemctl stop "$unit" || return 1
  said=$(timeout 600 "$bin/k3s" certificate rotate 2>&1)
  code=$?
  ticks self >"$run/started"
  systemctl start --no-block "$unit" || return 1
  [ "$code" -eq 0 ] && return 0
  printf '%s\n' "$said" | tail -n 1
  return 1
}

rotate_ca() {
  stage=$run/rotate-ca
  rm -rf "$stage"
  put_files "$input" "$stage"
  said=$(timeout 50 "$bin/k3s" certificate rotate-ca --path="$stage/var/lib/rancher/k3s/server" 2>&1)
  code=$?
  rm -rf "$stage"
  [ "$code" -eq 0 ] || fail "the CA was not rotated: $(printf '%s' "$said" | tail -n 1)"
  ok
}

# --- etcd --------------------------------------------------------------------------------------------------------

# Its JSON door; older releases have it on the port of the clients.
etcd_ask() {
  tls=$data/server/tls/etcd
  [ -f "$tls/client.crt" ] || return 1
  for port in 2382 2379; do
    if command -v curl >/dev/null 2>&1; then
      curl -fsS --noproxy '*' --connect-timeout 2 --max-time 4 --cacert "$tls/server-ca.crt" --cert "$tls/client.crt" \
        --key "$tls/client.key" -d "$2" "https://127.0.0.1:$port$1" 2>/dev/null && return 0
    else
      wget -q --no-proxy -T 4 -t 1 --ca-certificate="$tls/server-ca.crt" --certificate="$tls/client.crt" \
        --private-key="$tls/client.key" --post-data="$2" -O - "https://127.0.0.1:$port$1" 2>/dev/null && return 0
    fi
  done
  return 1
}

# Ids are whole 64 bits, more than a shell can count: printf of coreutils can.
hex() { case $1 in '' | *[!0-9]*) ;; *) env printf %x "$1" ;; esac; }

etcd_facts() {
  asked=$(now_ms)
  list=$(etcd_ask /v3/cluster/member/list '{}') || return 0
  took=$(($(now_ms) - asked))
  status=$(etcd_ask /v3/maintenance/status '{}')
  self=$(hex "$(field "$status" member_id '[0-9]*')")
  leader=$(hex "$(field "$status" leader '[0-9]*')")
  version=$(field "$status" version '[0-9.]*')
  size=$(field "$status" dbSize '[0-9]*')
  members=$(printf '%s\n' "$list" | sed 's/^.*"members":\[//' | tr '{' '\n' | while IFS= read -r member; do
    id=$(hex "$(field "$member" ID '[0-9]*')")
    [ -n "$id" ] || continue
    case $member in *'"isLearner":true'*) learner=true ;; *) learner=false ;; esac
    printf '{"id":"%s","name":"%s","learner":%s},' "$id" "$(field "$member" name '[A-Za-z0-9._-]*')" "$learner"
  done)
  [ -n "$members" ] || return 0
  printf ',"etcd":{"members":[%s]' "${members%,}"
  [ -n "$leader" ] && [ "$leader" != 0 ] && printf ',"leader":"%s"' "$leader"
  [ -n "$self" ] && printf ',"self":"%s"' "$self"
  [ -n "$version" ] && printf ',"version":"%s"' "$version"
  [ -n "$size" ] && printf ',"bytes":%s' "$size"
  [ "$took" -ge 0 ] && printf ',"answerMs":%s' "$took"
  printf '}'
}

remove_member() {
  case $1 in '' | *[!0-9a-f]*) fail 'the id of the member may not be used' ;; esac
  case $(etcd_ask /v3/cluster/member/list '{}') in
    '') fail 'etcd does not answer here' ;;
    *"\"ID\":\"$(env printf %u "0x$1")\""*) ;;
    *) ok; return ;;
  esac
  etcd_ask /v3/cluster/member/remove "{\"ID\":\"$(env printf %u "0x$1")\"}" >/dev/null || fail "etcd did not remove the member $1"
  ok
}

# --- facts -------------------------------------------------------------------------------------------------------

facts() {
  now=$(now_ms)
  # First of all: a job that ends while the rest is read would be "done" beside data and a version from before its end.
  job=$(job_facts)
  look_at_service
  look_at_data
  # No unit and no process is known, and a port is taken: that may be what keeps the data on this disk alive.
  port=$(case $service.$held in absent.none) ;; absent.*) k3s_port ;; esac)
  [ -z "$port" ] || { service=unknown; held_by="port $port"; }
  printf '{"machineId":"%s","hostname":"%s"' "$(clean "$(cat "$root/etc/machine-id" 2>/dev/null)")" \
    "$(clean "$(cat "$root/proc/sys/kernel/hostname" 2>/dev/null)")"
  printf ',"bootId":"%s","clockMs":%s' "$(clean "$(cat "$root/proc/sys/kernel/random/boot_id" 2>/dev/null)")" "$now"
  printf ',"architecture":"%s"' "$(clean "$(uname -m)")"
  cloud_init_facts
  printf ',"service":"%s","serviceSinceMs":%s' "$service" "$since"
  printf ',"wipes":%s' "$(wipes)"
  [ -n "$held_by" ] && printf ',"heldBy":"%s"' "$(clean "$held_by")"
  [ -n "$role" ] && printf ',"role":"%s"' "$role"
  version=$(installed_version)
  [ -n "$version" ] && printf ',"version":"%s"' "$(clean "$version")"
  fetched=$(fetched_version)
  [ -n "$fetched" ] && printf ',"fetched":"%s"' "$fetched"
  config_hash=$(sed -n '1s/^# croft: \([0-9a-f]*\)$/\1/p' "$etc/config.yaml" 2>/dev/null)
  [ -n "$config_hash" ] && printf ',"configHash":"%s"' "$config_hash"
  begins=false
  grep -qs '^"\{0,1\}cluster-init"\{0,1\}: *true' "$etc/config.yaml" && begins=true
  printf ',"begins":%s' "$begins"
  printf ',"data":"%s","mixedCa":%s' "$held" "$mixed"
  away=
  [ "$held" != none ] || away=$(no_data)
  [ -n "$away" ] && printf ',"away":"%s"' "$(clean "$away")"
  ca_file ca "$data/server/tls/server-ca.crt"
  ca_file caCopy "$data/agent/server-ca.crt"
  certificate_facts
  disk_facts
  failure_facts "$unit"
  gates_facts
  case $role.$service in server.running | server.starting) etcd_facts ;; esac
  datastore_facts
  files_facts
  snapshot_facts
  printf '%s}\n' "$job"
}

# Sets state and state_since of a unit. A unit that is not croft's, is not enabled and does not run is as good as absent.
unit_state() {
  state=absent
  state_since=0
  shown=$(TZ=UTC systemctl show "$1" -p LoadState -p ActiveState -p SubState -p UnitFileState -p NRestarts -p Job -p MainPID \
    -p InactiveEnterTimestamp 2>/dev/null)
  of() { printf '%s\n' "$shown" | sed -n "s/^$1=//p"; }
  case $(of LoadState) in loaded) ;; bad-setting | error) [ ! -f "$units/$1" ] || state=failed; return ;; *) return ;; esac
  case $(of ActiveState) in
    active | reloading | deactivating) state=running; state_since=$(since_process "$(of MainPID)") ;;
    activating)
      state=starting
      state_since=$(since_process "$(of MainPID)")
      restarts=$(of NRestarts)
      # It dies of the same thing each time it is started.
      [ "$(of SubState)" = auto-restart ] && [ "${restarts:-0}" -ge 2 ] && state=failed ;;
    failed) state=failed; state_since=$(since_wall "$(of InactiveEnterTimestamp)") ;;
    *)
      [ -f "$units/$1" ] || [ "$(of UnitFileState)" = enabled ] || return
      state=stopped
      state_since=$(since_wall "$(of InactiveEnterTimestamp)")
      case $(of Job) in '' | 0) ;; *) state=starting; state_since=$now ;; esac ;;
  esac
  # systemd starts it again and again, each time anew: how long it has been on its way counts from our own call.
  begun=$(since_ticks "$(cat "$run/started" 2>/dev/null)")
  case $state in starting) [ "$begun" -eq 0 ] || { [ "$begun" -ge "$state_since" ] && [ "$state_since" -ne 0 ]; } || state_since=$begun ;; esac
}

cloud_init_facts() {
  result=$root/run/cloud-init/result.json
  if [ ! -d "$root/run/cloud-init" ] || [ -e "$root/run/cloud-init/disabled" ]; then
    printf ',"cloudInit":"absent"'
  elif [ ! -f "$result" ]; then
    printf ',"cloudInit":"running"'
  elif tr -d ' \n' <"$result" | grep -q '"errors":\[\]'; then
    printf ',"cloudInit":"done"'
  else
    why=$(tr -d '\n' <"$result" | sed -n 's/^.*"errors": *\[ *"\([^"]*\)".*$/\1/p')
    printf ',"cloudInit":"error","cloudInitError":"%s"' "$(clean "${why:-see /var/log/cloud-init.log}")"
  fi
}

# What lies on the disk: `ca` where croft can tell from the CA which cluster it is of, and that file with an agent's copy.
look_at_data() {
  ca=$data/server/tls/server-ca.crt
  copy=$data/agent/server-ca.crt
  held=none
  mixed=false
  if [ -s "$ca" ]; then
    held=ca
    leaf_fits "$ca" "$data/server/tls/serving-kube-apiserver.crt" || mixed=true
    leaf_fits "$data/server/tls/etcd/peer-ca.crt" "$data/server/tls/etcd/peer-server-client.crt" || mixed=true
    leaf_fits "$data/server/tls/etcd/server-ca.crt" "$data/server/tls/etcd/client.crt" || mixed=true
    leaf_fits "$data/server/tls/client-ca.crt" "$data/server/tls/client-admin.crt" || mixed=true
  elif [ -s "$copy" ]; then
    held=ca
  elif has_files "$data/server/db/etcd" || has_files "$data/server/tls" || has_files "$data/server/cred" ||
    [ -e "$data/agent/client-kubelet.crt" ]; then
    held=other
  fi
}

ca_file() { [ ! -s "$2" ] || printf ',"%s":"%s"' "$1" "$(head -c 65536 "$2" | base64 | tr -d '\n')"; }

# A server that has only just begun to join has its directories and nothing in them: that is no data.
has_files() {
  for inside in "$1"/* "$1"/*/*; do [ -f "$inside" ] || [ "${inside##*/}" = wal ] && return 0; done
  return 1
}

# A leaf that another CA made gives a mixed disk away. What is expired is not mixed.
leaf_fits() {
  [ -s "$1" ] && [ -s "$2" ] || return 0
  command -v openssl >/dev/null 2>&1 || return 0
  openssl verify -partial_chain -no_check_time -CAfile "$1" -untrusted "$2" "$2" >/dev/null 2>&1
}

# Where a server keeps its data. External counts first: what lies on the disk beside it is from before.
datastore_facts() {
  if cat "$etc/config.yaml" "$etc"/config.yaml.d/*.y*ml 2>/dev/null | grep -q '^[[:space:]]*"\{0,1\}datastore-endpoint"\{0,1\}[[:space:]]*:' ||
    grep -qs 'datastore-endpoint\|K3S_DATASTORE_ENDPOINT=' "$root/etc/default/k3s" "$root/etc/sysconfig/k3s" "$units/k3s.service" "$units/k3s.service.env"; then
    printf ',"datastore":"external"'
  elif [ -d "$data/server/db/etcd/member" ]; then
    printf ',"datastore":"etcd"'
  elif [ -f "$data/server/db/state.db" ] && [ ! -d "$data/server/db/etcd" ]; then
    printf ',"datastore":"sqlite"'
  fi
}

# When certificates of K3s end, in the words of openssl; one of each sort that K3s makes. It renews them only when it starts.
certificate_facts() {
  command -v openssl >/dev/null 2>&1 || return 0
  ends=$(for leaf in server/tls/client-admin server/tls/serving-kube-apiserver server/tls/etcd/server-client agent/client-kubelet; do
    [ -s "$data/$leaf.crt" ] || continue
    openssl x509 -noout -enddate -in "$data/$leaf.crt" 2>/dev/null | sed -n 's/^notAfter=\([A-Za-z0-9: ]*\)$/"\1",/p'
  done | tr -d '\n')
  [ -n "$ends" ] && printf ',"certificatesEnd":[%s]' "${ends%,}"
}

failure_facts() {
  case $service in starting | failed | stopped) ;; *) return ;; esac
  [ -n "$1" ] || return
  begun=$(since_ticks "$(cat "$run/started" 2>/dev/null)")
  log=$(journalctl -u "$1" -b -n 400 -o cat --no-pager --since "@$((begun / 1000))" 2>/dev/null)
  line=$(printf '%s\n' "$log" | grep 'level=fatal\|Shutdown request received' | tail -n 1 |
    sed 's/^.*msg="//; s/"$//; s/\\"/"/g')
  # Which setting differs stands only in the warnings before it.
  case $line in *'configuration value mismatch'*)
    field=$(printf '%s\n' "$log" | sed -n 's/^.*\(critical configuration mismatched: [A-Za-z0-9-]*\).*/\1/p' | tail -n 1)
    line="$line ($field)" ;;
  esac
  [ -n "$line" ] && printf ',"failure":"%s"' "$(clean "$line")"
}

gates_facts() {
  gates=$(head -c 4096 "$run/gates.json" 2>/dev/null | tr -d '\n')
  case $gates in '['*']') printf ',"gates":%s' "$gates" ;; *) printf ',"gates":[]' ;; esac
}

# Directories that K3s, etcd and croft write, and that have no room. Each disk once.
disk_facts() {
  full=$(for path in /var/lib/rancher/k3s /var/lib/kubelet /etc /usr/local /var/lib; do
    [ -d "$root$path" ] || continue
    echo "$(timeout 5 df -Pk "$root$path" 2>/dev/null | awk 'NR == 2 { print $6 " " $4 }') $path"
  done | awk -v least="$full_kb" 'NF == 3 && $2 ~ /^[0-9]+$/ && $2 < least && !($1 in seen) {
    seen[$1] = 1; printf "{\"path\":\"%s\",\"freeKb\":%s},", $3, $2 }')
  [ -z "$full" ] || printf ',"full":[%s]' "${full%,}"
}

snapshot_dir() {
  where=$(sed -n 's/^"\{0,1\}etcd-snapshot-dir"\{0,1\}: *"\{0,1\}\(\/[A-Za-z0-9_@.:\/+-]*\)"\{0,1\} *$/\1/p' "$etc/config.yaml" 2>/dev/null | head -n 1)
  echo "${where:-/var/lib/rancher/k3s/server/db/snapshots}"
}

# `modified/bytes/name` of each. A share that hangs holds a process up that only KILL ends: everything else is told all the
# same. K3s may prune one at this moment, so each is told by one call.
snapshot_files() {
  # shellcheck disable=SC2016
  timeout -s KILL 5 sh -c 'cd "$1" 2>/dev/null && exec stat -L -c "%F/%Y/%s/%n" -- *' sh "${1:-$root$(snapshot_dir)}" 2>/dev/null |
    sed -n 's,^regular [a-z ]*file/\([0-9]*/[0-9]*/[A-Za-z0-9._-]*\)$,\1,p; s,^regular file/\([0-9]*/[0-9]*/[A-Za-z0-9._-]*\)$,\1,p'
}

files_facts() {
  separator=
  printf ',"files":{'
  for path in $optional_files; do
    is_own_file "$path" || continue
    hash=
    case $path in
      # It holds credentials, and says itself which declaration it was made from.
      */croft-backup.json) hash=$(sed -n 's,^.*"croft\.dev/declared":"\([0-9a-f]\{64\}\)".*$,\1,p' "$root$path" | head -n 1) ;;
    esac
    printf '%s"%s":"%s"' "$separator" "$path" "${hash:-$(sha256sum <"$root$path" | cut -c 1-64)}"
    separator=,
  done
  printf '}'
}

snapshot_facts() {
  where=$(snapshot_dir)
  printf ',"snapshots":['
  list_snapshots "$root$where" "$where"
  printf ']'
}

# Arguments: the directory here, and how its path is told.
list_snapshots() {
  snapshot_files "$1" | while IFS=/ read -r modified bytes name; do
    printf '%s{"name":"%s","path":"%s/%s","atMs":%s000,"bytes":%s}' "${comma:-}" "$name" "$2" "$name" "$modified" "$bytes"
    comma=,
  done
}

job_facts() {
  name=$(job_field name)
  [ -n "$name" ] || return
  state=$(job_field state)
  message=$(job_field message)
  if [ "$state" = running ] && ! job_active; then
    # It may have ended between the two looks: what it noted last counts.
    state=$(job_field state)
    message=$(job_field message)
    if [ "$state" = running ]; then
      state=failed
      message='it ended without a word'
    fi
  fi
  printf ',"job":{"name":"%s","state":"%s","sinceMs":%s' "$(clean "$name")" "$state" "$(since_ticks "$(job_field since)")"
  [ -n "$message" ] && printf ',"message":"%s"' "$message"
  printf '}'
}

main "$@"
