import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ConnectionView } from './estate-view.ts'
import { asBoxes, sameBox } from './one-box.ts'

const connection = (
  name: string,
  driver: string,
  endpoint = '',
  computers?: Readonly<Record<string, string>>,
): ConnectionView => ({ name, driver, endpoint, state: 'ok', ...(computers === undefined ? {} : { computers }) })
const connections = [connection('default', 'proxmox'), connection('office', 'proxmox'), connection('host/cow', 'ssh')]
const pve = { connection: 'default', name: 'cow', online: true, load: 0.4 }
const box = { connection: 'host/cow', name: 'cow', online: true, load: 0.9, temperatureC: 51, watts: 38 }

test('a box that a hypervisor shows and that has sensors is one host, with the load of the hypervisor', () => {
  assert.deepEqual(asBoxes({ connections, hosts: [pve, box] }), [{ ...pve, temperatureC: 51, watts: 38 }])
})

test('a box without a hypervisor stands for itself; hosts of one name on two hypervisors stay apart and say so', () => {
  assert.deepEqual(asBoxes({ connections, hosts: [box] }), [box])
  const twice = [pve, { ...pve, connection: 'office' }]
  const apart = 'default/cow and office/cow both have a host of this name; the Host can name its connection'
  assert.deepEqual(asBoxes({ connections, hosts: [...twice, box] }), [...twice, { ...box, apart }])
})

test('one that is called otherwise there keeps the name that its machines know, and the other beside it', () => {
  const known = [
    connection('default', 'proxmox', '', { pve3: '10.0.0.3:22' }),
    connection('host/cow', 'ssh', '', { '': '10.0.0.3:22' }),
  ]
  const there = { ...pve, name: 'pve3' }
  assert.deepEqual(asBoxes({ connections: known, hosts: [there, box] }), [
    { ...there, temperatureC: 51, watts: 38, alsoCalled: 'cow' },
  ])
})

test('two boxes are never folded into one host', () => {
  const known = [
    connection('default', 'proxmox', '', { pve3: '10.0.0.3:22' }),
    connection('host/cow', 'ssh', '', { '': '10.0.0.3:22' }),
    connection('host/calf', 'ssh', '', { '': '10.0.0.3:22' }),
  ]
  const calf = { ...box, connection: 'host/calf', name: 'calf' }
  const names = asBoxes({ connections: known, hosts: [{ ...pve, name: 'pve3' }, box, calf] }).map(({ name }) => name)
  assert.deepEqual(names, ['pve3', 'calf'])
})

describe('which host of a hypervisor a box is', () => {
  const ssh = (place?: string) => connection('host/cow', 'ssh', '', place === undefined ? undefined : { '': place })
  const one = (name: string, of = 'default') => ({ connection: of, name, online: true })
  for (const [what, known, others, expected] of [
    [
      'Git says which, by another name',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', '', { pve3: '10.0.0.3:22' })],
      [one('pve1'), one('pve3')],
      'default/pve3',
    ],
    [
      'Git says which, although another has its name',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', '', { pve3: '10.0.0.3:22', cow: '10.0.0.9:22' })],
      [one('cow'), one('pve3')],
      'default/pve3',
    ],
    [
      'both are this very computer',
      [ssh('local'), connection('default', 'libvirt', 'qemu:///system', { '': 'local' })],
      [one('here')],
      'default/here',
    ],
    [
      'the same address behind two ports is two computers',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', '', { pve3: '10.0.0.3:2222' })],
      [one('pve3')],
      'none',
    ],
    [
      'a hypervisor that is alone answers at its address',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', 'https://10.0.0.3:8006')],
      [one('pve')],
      'default/pve',
    ],
    [
      'of several behind one address nobody knows which',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', 'https://10.0.0.3:8006')],
      [one('pve1'), one('pve2')],
      'none',
    ],
    [
      'only the name is known',
      [ssh(), connection('default', 'proxmox', 'https://10.0.0.9:8006')],
      [one('pve1'), one('cow')],
      'default/cow',
    ],
    [
      'the name is the same, the address is not',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', '', { cow: '10.0.0.9:22' })],
      [one('cow')],
      'the one of connection default is at 10.0.0.9:22, this one at 10.0.0.3:22',
    ],
    [
      'two say that they are it',
      [
        ssh('10.0.0.3:22'),
        connection('default', 'proxmox', '', { a: '10.0.0.3:22' }),
        connection('virt', 'libvirt', '', { '': '10.0.0.3:22' }),
      ],
      [one('a'), one('b', 'virt')],
      'default/a and virt/b say that they are it',
    ],
    [
      'nothing comes near',
      [ssh('10.0.0.3:22'), connection('default', 'proxmox', 'https://10.0.0.9:8006')],
      [one('pve')],
      'none',
    ],
    [
      'what is behind another way in has no address that says anything',
      [ssh('10.0.0.3:22 by 10.0.0.1:22'), connection('default', 'libvirt', 'qemu:///system')],
      [one('pve')],
      'none',
    ],
    [
      'an address of another family',
      [ssh('[fd00::3]:22'), connection('default', 'proxmox', 'https://[fd00::3]:8006')],
      [one('pve')],
      'default/pve',
    ],
  ] as const) {
    test(what, () => {
      const found = sameBox({ connection: 'host/cow', name: 'cow', online: true }, others, known)
      assert.equal(typeof found === 'object' ? `${found.connection}/${found.name}` : (found ?? 'none'), expected)
    })
  }
})
