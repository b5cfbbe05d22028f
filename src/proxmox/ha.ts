import type { Definition } from '../model/rest.ts'
import { blocks, choice, comment, flag, list, named, number, prose, text, usual } from './fields.ts'

const SYS = ['Sys.Audit on /', 'Sys.Console on /']

/** Hardware of one host behind a name that holds for the cluster. */
function mapping(
  type: 'pci' | 'usb',
  parts: Pick<Definition, 'about' | 'fields' | 'example' | 'exampleName'> & { readonly kind: string },
): Definition {
  const path = `/cluster/mapping/${type}`
  return {
    name: `${type}-mapping`,
    noun: `${type.toUpperCase()} mapping`,
    list: { path },
    key: ['id'],
    ...usual(path, 'id', { whole: true, digest: true }),
    unset: 'delete',
    privileges: [`Mapping.Modify on /mapping/${type}`],
    ...parts,
  }
}

/** High availability and hardware mappings. */
export const HA: readonly Definition[] = [
  {
    name: 'ha-group',
    kind: 'ProxmoxHaGroup',
    noun: 'HA group',
    about: 'A group of hosts that guests may run on. Proxmox VE 9 has rules in their place: see ProxmoxHaRule.',
    list: { path: '/cluster/ha/groups', emptyWhen: 'migrated to rules' },
    key: ['group'],
    ...usual('/cluster/ha/groups', 'group', { digest: true }),
    unset: 'delete',
    fields: {
      hosts: list('Hosts, each with a priority if it has one: still-fawn:2.', { api: 'nodes', required: true }),
      restricted: flag('May its guests run nowhere else?', { absent: false }),
      noFailback: flag('Do guests stay where they were moved to?', { api: 'nofailback', absent: false }),
      comment: comment(),
    },
    privileges: SYS,
    exampleName: 'big-boxes',
    example: { hosts: ['pumped-piglet:2', 'still-fawn:1'], restricted: true, comment: 'Enough memory' },
  },
  {
    name: 'ha-rule',
    kind: 'ProxmoxHaRule',
    noun: 'HA rule',
    about: 'Where guests may run, and which of them belong together or apart (Proxmox VE 9).',
    list: { path: '/cluster/ha/rules' },
    key: ['rule'],
    create: { method: 'POST', path: '/cluster/ha/rules', id: 'rule' },
    update: { method: 'PUT', path: '/cluster/ha/rules/{id}', carry: ['type'], digest: true },
    remove: { method: 'DELETE', path: '/cluster/ha/rules/{id}' },
    unset: 'delete',
    fields: {
      type: choice(
        'node-affinity: guests and hosts. resource-affinity: guests and guests.',
        ['node-affinity', 'resource-affinity'],
        {
          required: true,
          fixed: true,
        },
      ),
      resources: list('Guests, like vm:108.', { required: true }),
      hosts: list('node-affinity: hosts, each with a priority if it has one.', { api: 'nodes' }),
      strict: flag('node-affinity: may they run nowhere else?', { absent: false }),
      affinity: choice('resource-affinity: together or apart.', ['positive', 'negative']),
      disabled: flag('Does it rest?', { api: 'disable', absent: false }),
      comment: comment(),
    },
    privileges: SYS,
    exampleName: 'servers-apart',
    example: {
      type: 'resource-affinity',
      resources: ['vm:108', 'vm:109'],
      affinity: 'negative',
      comment: 'Never on one box',
    },
  },
  {
    name: 'ha-resource',
    kind: 'ProxmoxHaResource',
    noun: 'HA resource',
    about: 'A guest that is kept running by the cluster. Its id is vm:108 or ct:120.',
    list: { path: '/cluster/ha/resources' },
    key: ['sid'],
    ...usual('/cluster/ha/resources', 'sid', { digest: true }),
    unset: 'delete',
    fields: {
      state: choice('What it should be.', ['started', 'stopped', 'enabled', 'disabled', 'ignored'], {
        absent: 'started',
      }),
      group: text('Proxmox VE 8: its HA group.'),
      failback: flag('Does it go back when a better host returns?', { absent: true }),
      maxRestart: number('Tries on one host.', { api: 'max_restart', min: 0, absent: 1 }),
      maxRelocate: number('Tries on other hosts.', { api: 'max_relocate', min: 0, absent: 1 }),
      comment: comment(),
    },
    privileges: SYS,
    exampleName: 'web',
    example: { id: 'vm:108', state: 'started', maxRestart: 2, maxRelocate: 1, comment: 'Front door' },
  },
  mapping('pci', {
    kind: 'ProxmoxPciMapping',
    about: 'A PCI device under one name on every host that has one. With it a token may pass the device to a guest.',
    fields: {
      devices: blocks('Where it is.', {
        api: 'map',
        required: true,
        parts: {
          host: text('Host.', { api: 'node', required: true }),
          path: text('Address, like 0000:01:00.0.', { required: true }),
          id: text('Vendor and device, like 10de:2484.', { required: true }),
          subsystemId: text('Vendor and device of the card.', { api: 'subsystem-id' }),
          iommuGroup: number('Its IOMMU group.', { api: 'iommugroup', min: 0 }),
        },
      }),
      mdev: flag('Does it offer mediated devices?', { absent: false }),
      ...named('-', { liveMigrationCapable: flag('May a running guest move with it?', { absent: false }) }),
      description: prose('For people.', { absent: '' }),
    },
    exampleName: 'rtx3070',
    example: {
      devices: [{ host: 'pumped-piglet', path: '0000:01:00.0', id: '10de:2484', iommuGroup: 12 }],
      description: 'Graphics card',
    },
  }),
  mapping('usb', {
    kind: 'ProxmoxUsbMapping',
    about: 'A USB device under one name on every host that has one.',
    fields: {
      devices: blocks('Where it is.', {
        api: 'map',
        required: true,
        parts: {
          host: text('Host.', { api: 'node', required: true }),
          id: text('Vendor and product, like 1a6e:089a.', { required: true }),
          path: text('Port, like 1-2.'),
        },
      }),
      description: prose('For people.', { absent: '' }),
    },
    exampleName: 'coral',
    example: {
      devices: [
        { host: 'still-fawn', id: '1a6e:089a' },
        { host: 'fun-bedbug', id: '18d1:9302' },
      ],
      description: 'Coral, before and after its firmware',
    },
  }),
]
