import { startTask } from '../../../world/tasks.ts'
import { failed } from '../../api-error.ts'
import { Answer, type Call, hostOf, param, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'
import { guestFile } from './rrd.ts'

const AT = '/nodes/{node}'

/** What a host says about itself beyond its state: what its QEMU can, which services it runs, what it has written down. */
export const nodeFactRoutes: Routes = {
  [`GET ${AT}/capabilities/qemu/machines`]: machines,
  [`GET ${AT}/capabilities/qemu/migration`]: () => ({ 'has-dbus-vmstate': true }),
  [`GET ${AT}/services`]: (call) => (call.world.statusDaemon ? SERVICES.map((name) => service(call, name)) : []),
  [`GET ${AT}/services/{service}/state`]: (call) => service(call, param(call, 'service')),
  ...Object.fromEntries(
    ['start', 'stop', 'restart', 'reload'].map((verb) => [
      `POST ${AT}/services/{service}/${verb}`,
      (call: Call) => order(call, verb),
    ]),
  ),
  [`GET ${AT}/disks/lvm`]: () => ({ leaf: 0, children: [] }),
  [`GET ${AT}/disks/lvmthin`]: () => [],
  [`GET ${AT}/disks/directory`]: () => [],
  [`GET ${AT}/hardware/pci/{pci-id-or-mapping}/mdev`]: () => [],
  [`GET ${AT}/netstat`]: (call) =>
    [...call.world.guests.values()].flatMap(({ node, vmid, run, config }) =>
      node !== hostOf(call).name || run.status !== 'running'
        ? []
        : [...config.keys()]
            .filter((key) => /^net\d+$/.test(key))
            .map((dev) => ({ dev, in: '0', out: '0', vmid: String(vmid) })),
    ),
  [`GET ${AT}/syslog`]: () => new Answer([{ n: 1, t: 'no content' }], { total: 1 }),
  [`GET ${AT}/journal`]: () => [],
  [`GET ${AT}/report`]: (call) => `==== general system info ====\n\n# hostname\n${hostOf(call).name}\n`,
  [`POST ${AT}/apt/update`]: (call) =>
    startTask(call.world, hostOf(call), 'aptupdate', '', call.who.id, (work) => {
      if (call.params.quiet !== '1') work.log('starting apt-get update')
      return work.pass(call.world.timing.shortTaskMs)
    }),
  ...rrdPicture(AT, (call) => `pve-node-9.0/${hostOf(call).name}`),
  ...rrdPicture(`${AT}/qemu/{vmid}`, vmPicture),
  ...rrdPicture(`${AT}/lxc/{vmid}`, vmPicture),
  ...rrdPicture(
    `${AT}/storage/{storage}`,
    (call) => `pve-storage-9.0/${param(call, 'node')}/${param(call, 'storage')}`,
  ),
}

/** The versions of machines that QEMU 10.0 has, newest first. */
const MACHINES = (
  '10.0 9.2 9.1 9.0 8.2 8.1 8.0 7.2 7.1 7.0 6.2 6.1 6.0 5.2 5.1 5.0 4.2 4.1 4.0 3.1 3.0 ' +
  '2.12 2.11 2.10 2.9 2.8 2.7 2.6 2.5 2.4'
).split(' ')
/** What Proxmox changed in some of them, each in a word. */
const REVISIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '10.0': { '+pve1': 'The MTU of a card is always told.' },
  '9.2': { '+pve1': 'No sleep to memory or disk unless asked for.' },
  '4.1': { '+pve2': 'More SCSI drives.', '+pve1': 'Nothing: the first revision.' },
}

function machines(call: Call): Thing[] {
  hostOf(call)
  // Those of the other architecture have one type, and nobody wrote down their versions.
  if (call.params.arch === 'aarch64') return [{ id: 'virt-10.0', type: 'virt', version: '10.0' }]
  return MACHINES.flatMap((version) => {
    const all = [...Object.entries(REVISIONS[version] ?? {}), ['', undefined] as const]
    return all.flatMap(([revision, changes]) =>
      ['q35', 'i440fx'].map((type) => ({
        id: `pc-${type}-${version}${revision}`,
        type,
        version: `${version}${revision}`,
        ...(changes === undefined ? {} : { changes }),
      })),
    )
  })
}

const SERVICES =
  'chrony corosync cron ksmtuned lxcfs postfix proxmox-firewall pve-cluster pve-firewall pve-ha-crm pve-ha-lrm pve-lxc-syscalld pvedaemon pvefw-logger pveproxy pvescheduler pvestatd qmeventd spiceproxy sshd syslog systemd-journald systemd-timesyncd'.split(
    ' ',
  )

function service(call: Call, name: string): Record<string, unknown> {
  // Nobody there to ask: not even what it is called is known.
  if (!call.world.statusDaemon) return { service: name, name: null, desc: null, state: 'unknown' }
  const stopped = shelf(call.world, `services/${hostOf(call).name}`).has(name)
  return {
    service: name,
    name,
    desc: name,
    state: stopped ? 'dead' : 'running',
    'active-state': stopped ? 'inactive' : 'active',
    'unit-state': 'enabled',
  }
}

/** Without them nobody could start anything again. */
const ESSENTIAL: ReadonlySet<string> = new Set(['pveproxy', 'pvedaemon', 'pve-cluster'])

function order(call: Call, verb: string): string {
  const host = hostOf(call)
  const name = param(call, 'service')
  return startTask(call.world, host, `srv${verb}`, name, call.who.id, async (work) => {
    await work.pass(call.world.timing.shortTaskMs)
    if (verb === 'stop' && ESSENTIAL.has(name))
      throw new Error(`invalid service cmd '${name} ${verb}': refusing to stop essential service!`)
    if (verb === 'stop') shelf(call.world, `services/${host.name}`).set(name, {})
    else shelf(call.world, `services/${host.name}`).delete(name)
  })
}

/** The picture itself is one grey point: nobody measures anything here. */
const POINT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
).toString('latin1')

/** What is measured of a guest. */
const VM_SERIES: ReadonlySet<string> = new Set(
  'maxcpu cpu maxmem mem maxdisk disk netin netout diskread diskwrite memhost'
    .split(' ')
    .concat(['cpu', 'io', 'memory'].flatMap((what) => [`pressure${what}some`, `pressure${what}full`])),
)

function vmPicture(call: Call): string {
  const file = guestFile(call)
  const unknown = param(call, 'ds')
    .split(/[,;\s]+/)
    .find((name) => !VM_SERIES.has(name))
  if (unknown !== undefined) throw failed(`RRD error: No DS called '${unknown}' in '/var/lib/rrdcached/db/${file}'`)
  return file
}

function rrdPicture(at: string, of: (call: Call) => string): Routes {
  return {
    [`GET ${at}/rrd`]: (call) => ({
      filename: `/var/lib/rrdcached/db/${of(call)}_${param(call, 'ds').replace(/,/g, '_')}.png`,
      image: POINT,
    }),
  }
}
