import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../../model/estate.ts'
import type { Plan } from '../../model/plan.ts'
import type { AddressUse, ObservedResource } from '../../model/resource.ts'
import { refuseTakenAddresses } from './addresses.ts'
import type { World } from './world.ts'

const MAC = '52:54:00:00:00:01'
const vm = (name: string, ...v4: readonly string[]) => ({
  key: `Machine/${name}`,
  uid: `uid-${name}`,
  connection: 'default',
  desired: {
    type: 'vm',
    vm: {
      host: 'pve1',
      name,
      disks: [],
      nics: [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio', mac: MAC.toUpperCase() }],
      cloudInit: { addresses: v4.map((one) => ({ v4: one })) },
    },
  },
})

/** Returns the refused entries by key. */
function refused(given: {
  readonly declared: readonly ReturnType<typeof vm>[]
  readonly making?: readonly string[]
  readonly guests?: readonly Partial<ObservedResource>[]
  readonly near?: readonly AddressUse[]
  readonly estate?: Partial<Estate>
  readonly wait?: boolean
}): Readonly<Record<string, string>> {
  const making = given.making ?? given.declared.map(({ key }) => key)
  const create = { do: 'create' }
  const plan = {
    entries: given.declared.map(({ key }) => ({
      key,
      action: !making.includes(key)
        ? { do: 'nothing' }
        : given.wait === true
          ? { do: 'wait', reason: 'Queue', message: 'm', next: create }
          : create,
    })),
  } as unknown as Plan
  const estate = { resources: given.declared, connections: [], ...given.estate } as unknown as Estate
  const guests = new Map((given.guests ?? []).map((one, at) => [String(at), one as ObservedResource]))
  const after = refuseTakenAddresses(plan, estate, [{ guests } as unknown as World], given.near)
  return Object.fromEntries(
    after.entries.flatMap(({ key, action }) => (action.do === 'refuse' ? [[key, action.reason]] : [])),
  )
}

const guest = (more: Partial<ObservedResource>): Partial<ObservedResource> => ({
  type: 'vm',
  externalId: '108',
  host: 'pve2',
  power: 'running',
  close: { config: { ipconfig0: 'ip=192.168.4.50/24,gw=192.168.4.1' }, atMs: 0 },
  ...more,
})

test('[D-10] whose address it is', () => {
  const web = vm('web', '192.168.4.50/24')
  const api = (server: string) => ({
    name: 'cluster/home',
    endpoint: 'https://192.168.4.50:6443',
    cluster: { spec: { servers: [{ machine: { key: `Machine/${server}` } }] } },
  })
  const mark = { uid: 'uid-web' } as NonNullable<ObservedResource['mark']>
  const own = (more: Partial<ObservedResource>) => guest({ connection: 'another', mark, ...more })
  const busy = (by: string) => ({ 'Machine/web': `192.168.4.50 is in use by ${by}` })
  const table: readonly (readonly [what: string, given: Parameters<typeof refused>[0], expected: object])[] = [
    ['nobody', { declared: [web] }, {}],
    ['a guest, by its configuration', { declared: [web], guests: [guest({})] }, busy('VM 108 on pve2')],
    ['a guest with a name', { declared: [web], guests: [guest({ name: 'db' })] }, busy('VM 108 (db) on pve2')],
    [
      'a guest that is stopped',
      { declared: [web], guests: [guest({ power: 'stopped' })] },
      busy('VM 108 on pve2, which is stopped'),
    ],
    [
      'a container, by its card',
      {
        declared: [web],
        guests: [guest({ type: 'container', close: { config: { net0: 'name=eth0,ip=192.168.4.50/24' }, atMs: 0 } })],
      },
      busy('container 108 on pve2'),
    ],
    [
      'a guest, by its agent',
      { declared: [web], guests: [guest({ close: { config: {}, addresses: ['192.168.4.50'], atMs: 0 } })] },
      busy('VM 108 on pve2'),
    ],
    [
      'its own guest on another connection, which still runs',
      { declared: [web], guests: [own({})] },
      busy('VM 108 on pve2'),
    ],
    ['its own guest on another connection, shut down', { declared: [web], guests: [own({ power: 'stopped' })] }, {}],
    ['a gateway is not an address', { declared: [vm('web', '192.168.4.1/24')], guests: [guest({})] }, {}],
    [
      'another one that is there already',
      { declared: [web, vm('app', '192.168.4.50/24')], making: ['Machine/web'] },
      busy('Machine/app'),
    ],
    [
      'of two new ones the first by name is made',
      { declared: [web, vm('app', '192.168.4.50/24')] },
      busy('Machine/app'),
    ],
    ['one that is not about to be made', { declared: [web], making: [], guests: [guest({})] }, {}],
    ['one that waits to be made', { declared: [web], wait: true, guests: [guest({})] }, busy('VM 108 on pve2')],
    [
      'its second address',
      { declared: [vm('web', '192.168.4.49/24', '192.168.4.50/24')], guests: [guest({})] },
      busy('VM 108 on pve2'),
    ],
    ['who answers', { declared: [web], near: [{ address: '192.168.4.50', by: 'a printer' }] }, busy('a printer')],
    ['who answers elsewhere', { declared: [web], near: [{ address: '192.168.4.5', by: 'a printer' }] }, {}],
    ['a lease of its own', { declared: [web], near: [{ address: '192.168.4.50', hardware: MAC, by: 'it' }] }, {}],
    [
      'the connection',
      { declared: [web], estate: { connections: [{ name: 'pve', endpoint: 'https://192.168.4.50:8006' }] as never } },
      busy('the connection pve'),
    ],
    [
      'the API of the cluster whose server it is',
      { declared: [web], estate: { connections: [api('web')] as never } },
      {},
    ],
    [
      'the API of the cluster of another',
      { declared: [web], estate: { connections: [api('db')] as never } },
      busy('the connection cluster/home'),
    ],
    [
      'a host',
      {
        declared: [web],
        estate: {
          connections: [
            { name: 'pve', endpoint: 'https://pve:8006', hosts: { pve1: { address: '192.168.4.50' } } },
          ] as never,
        },
      },
      busy('a host of pve'),
    ],
    [
      'the API of a cluster',
      {
        declared: [web],
        estate: { clusters: [{ key: 'Cluster/lab', spec: { endpoint: { vip: '192.168.4.50' } } }] as never },
      },
      busy('the API of Cluster/lab'),
    ],
  ]
  for (const [what, given, expected] of table) assert.deepEqual(refused(given), expected, what)
})
