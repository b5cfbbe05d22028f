import { NODE_PROGRAM } from './node-program.ts'

/** The first line of the program that checks a machine before it becomes a node; simulated machines know it by it. */
export const NODE_CHECK_MARK = '# croft: what a machine has that is to be a node'

/**
 * Reads, and changes nothing. Words: where K3s comes from, in order. One fact to a line, its name first. POSIX shell that
 * asks for nothing that a plain Debian may lack without noticing it.
 */
export const NODE_CHECK = `${NODE_CHECK_MARK}
LC_ALL=C; export LC_ALL
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
echo "uid $(id -u)"
echo "machine $(uname -m)"
echo "clock $(date +%s)"
for c in curl wget systemctl systemd-run journalctl sha256sum base64 iptables modprobe; do
  command -v "$c" >/dev/null 2>&1 && echo "has $c"
done
if [ -f ${NODE_PROGRAM} ]; then echo "program $(sha256sum <${NODE_PROGRAM} 2>/dev/null | cut -c 1-64)"; fi
echo "disk $(df -Pk /var/lib 2>/dev/null | awk 'NR == 2 {print $4}')"
echo "memory $(awk '/^MemTotal:/ {print $2}' /proc/meminfo 2>/dev/null)"
echo "cgroup $(stat -f -c %T /sys/fs/cgroup 2>/dev/null)"
if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo "controllers $(cat /sys/fs/cgroup/cgroup.controllers)"
else echo "controllers $(awk '$4 == 1 {printf "%s ", $1}' /proc/cgroups 2>/dev/null)"; fi
for u in k3s k3s-agent; do
  case $(systemctl is-active $u.service 2>/dev/null) in
    active|reloading) echo "runs $u" ;;
    activating) echo "starts $u" ;;
  esac
done
if command -v ss >/dev/null 2>&1; then
  for p in 6443 2379 2380 10250; do
    [ -n "$(ss -H -ltn "sport = :$p" 2>/dev/null)" ] && echo "port $p"
  done
fi
for u in ufw firewalld; do
  [ "$(systemctl is-active $u.service 2>/dev/null)" = active ] && echo "firewall $u"
done
for from; do
  case $from in
    /*) if [ -f "$from" ]; then echo "source $from ok"; else echo "source $from no such file"; fi ;;
    *)
      if command -v curl >/dev/null 2>&1; then why=$(curl -fsSL -o /dev/null -r 0-0 --connect-timeout 5 --max-time 15 -- "$from" 2>&1) && why=ok
      elif command -v wget >/dev/null 2>&1; then why=$(wget -q --spider -T 15 -t 1 -- "$from" 2>&1) && why=ok || why="\${why:-wget could not reach it}"
      else why='neither curl nor wget is here'; fi
      echo "source $from $(printf %s "$why" | tail -n 1)" ;;
  esac
done
echo end
`

/** What a machine said, by name of the fact. */
export type NodeCheck = ReadonlyMap<string, readonly string[]>

/** Undefined: it was cut off, or is something else. */
export function readNodeCheck(text: string): NodeCheck | undefined {
  const lines = text.trimEnd().split('\n')
  if (lines.at(-1) !== 'end') return undefined
  const facts = new Map<string, string[]>()
  for (const line of lines.slice(0, -1)) {
    const at = line.indexOf(' ')
    const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).trim()]
    facts.set(name, [...(facts.get(name) ?? []), value])
  }
  return facts
}
