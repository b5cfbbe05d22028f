import { readSensors, SENSORS, wattsBetween } from '../../../model/host-sensors.ts'

/**
 * Collects facts about a box in one round trip: constant text that only reads, and prints `name value` lines. Missing
 * programs leave their lines out.
 */
export const FACTS = String.raw`
LC_ALL=C; export LC_ALL; PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH
echo "hostname $(uname -n)"; echo "kernel $(uname -r)"; echo "arch $(uname -m)"
. /etc/os-release 2>/dev/null && echo "os $PRETTY_NAME"
if [ -r /proc/device-tree/model ]; then echo "model $(tr -d '\0' </proc/device-tree/model)";
elif [ -r /sys/class/dmi/id/product_name ]; then echo "model $(cat /sys/class/dmi/id/product_name)"; fi
echo "cpus $(nproc)"
m=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n1); [ -n "$m" ] && echo "cpu $m"
while read -r k v x; do case $k in MemTotal:) echo "memoryKiB $v" ;; MemAvailable:) echo "freeKiB $v" ;; esac; done </proc/meminfo
read -r u x </proc/uptime; echo "uptimeSeconds ${'$'}{u%%.*}"
read -r l x </proc/loadavg; echo "load $l"
[ -r /etc/machine-id ] && echo "machineId $(cat /etc/machine-id)"
if command -v lsblk >/dev/null; then lsblk -dnbr -o NAME,SIZE,ROTA,SERIAL,MODEL 2>/dev/null | while read -r n s r ser mod; do
  case $n in loop*|ram*|zram*|sr*) continue ;; esac
  id=; for f in /dev/disk/by-id/*; do case $f in *-part*|*/wwn-*|*/nvme-eui*) continue ;; esac; [ "$(readlink -f "$f" 2>/dev/null)" = "/dev/$n" ] && id=$f && break; done
  echo "disk $n $s ${'$'}{r:-0} ${'$'}{ser:--} ${'$'}{id:--} $mod"; done; fi
for d in /sys/class/net/*; do n=${'$'}{d##*/}; [ "$n" = lo ] && continue; [ -r "$d/address" ] || continue
  echo "nic $n $(cat "$d/address") $(cat "$d/operstate" 2>/dev/null) $(cat "$d/speed" 2>/dev/null)"; done
command -v ip >/dev/null && ip -o addr show scope global 2>/dev/null | while read -r i n f a x; do echo "address $n $a"; done
sensors() {${SENSORS}}
sensors
# Energy is counted: what is drawn shows in a second look.
if [ -r /sys/class/powercap/intel-rapl:0/energy_uj ]; then sleep 0.5; sensors | sed 's/^/later /'; fi
echo end
`

export interface HostFacts {
  readonly hostname: string
  readonly os: string
  readonly kernel: string
  readonly arch: string
  readonly model?: string
  readonly cpus: number
  readonly cpu?: string
  readonly memoryMb: number
  readonly freeMb: number
  readonly uptimeSeconds: number
  readonly load: number
  readonly machineId?: string
  readonly watts?: number
  readonly disks: readonly {
    readonly name: string
    readonly gb: number
    readonly spins: boolean
    readonly serial: string
    readonly id: string
    readonly model: string
  }[]
  readonly nics: readonly {
    readonly name: string
    readonly mac: string
    readonly state: string
    readonly mbit?: number
    readonly addresses: readonly string[]
  }[]
  readonly temperatures: readonly { readonly sensor: string; readonly celsius: number }[]
}

/** Undefined: the answer was cut off. The text is foreign: clean it before printing. */
export function readFacts(text: string): HostFacts | undefined {
  if (!text.endsWith('end\n')) return undefined
  const rows = text.split('\n').map((line): readonly [string, string] => {
    const at = line.indexOf(' ')
    return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).trim()]
  })
  const one = (name: string) => rows.find(([key]) => key === name)?.[1] ?? ''
  const all = (name: string) => rows.filter(([key]) => key === name).map(([, value]) => value.split(/ +/))
  const maybe = (name: 'model' | 'cpu' | 'machineId') => (one(name) === '' ? {} : { [name]: one(name) })
  const addresses = all('address')
  const lines = text.split('\n')
  const sensors = readSensors(lines)
  const later = lines.filter((line) => line.startsWith('later ')).map((line) => line.slice('later '.length))
  const watts = wattsBetween(sensors, later.length === 0 ? sensors : readSensors(later))
  return {
    hostname: one('hostname'),
    os: one('os'),
    kernel: one('kernel'),
    arch: one('arch'),
    ...maybe('model'),
    cpus: Number(one('cpus')),
    ...maybe('cpu'),
    memoryMb: Math.round(Number(one('memoryKiB')) / 1024),
    freeMb: Math.round(Number(one('freeKiB')) / 1024),
    uptimeSeconds: Number(one('uptimeSeconds')),
    load: Number(one('load')),
    ...maybe('machineId'),
    ...(watts === undefined ? {} : { watts }),
    disks: all('disk').map(([name = '', bytes = '0', rota = '0', serial = '-', id = '-', ...model]) => ({
      name,
      gb: Math.round(Number(bytes) / 1e9),
      spins: rota === '1',
      serial,
      id,
      model: model.join(' '),
    })),
    nics: all('nic').map(([name = '', mac = '', state = '', speed]) => ({
      name,
      mac,
      state,
      ...(speed !== undefined && Number(speed) > 0 ? { mbit: Number(speed) } : {}),
      addresses: addresses.filter(([nic]) => nic === name).map(([, address = '']) => address),
    })),
    temperatures: sensors.temperatures,
  }
}
