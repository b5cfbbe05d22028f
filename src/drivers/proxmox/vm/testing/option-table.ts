import type { Change } from '../../../../model/resource.ts'
import type { VmSpec } from '../../../../model/vm.ts'

export type Config = Readonly<Record<string, unknown>>
export type Seen = readonly [path: string, from: unknown, to: unknown, effect: Change['effect']]

/** One option: its declaration, its sent parameters, and Proxmox's possible answers. Shared by the tests. */
export interface OptionRow {
  readonly what: string
  readonly declared: Partial<VmSpec>
  /** The parameters that a creation sends. */
  readonly create: Config
  /** Configurations that match the declaration. */
  readonly same: readonly Config[]
  /** Configurations that differ, with the changes and the correcting parameters. */
  readonly differs: readonly { readonly config: Config; readonly changes: readonly Seen[]; readonly update: Config }[]
}

const scsi0 = (text: string) => ({ scsi0: text })
const net0 = (text: string) => ({ net0: text })
const disk = (more: object) => ({ disks: [{ slot: 'scsi0', storage: 'local', ...more }] })
const nic = (more: object) => ({ nics: [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio', ...more }] })
const ci = (more: object) => ({ cloudInit: { storage: 'local', slot: 'ide2', ...more } })
const DRIVE = { ide2: 'local:114/vm-114-cloudinit.qcow2,media=cdrom,size=4M' }
const KEY = 'ssh-ed25519 AAAA+b/c= u@h'

/** An option of one key: the declared value and, if absent, `fallback` match; all else differs. */
function simple(
  what: string,
  declared: Partial<VmSpec>,
  key: string,
  value: string,
  other: unknown,
  seen: Seen,
  same: readonly Config[] = [],
): OptionRow {
  return {
    what,
    declared,
    create: { [key]: value },
    same: [{ [key]: value }, ...(Number.isFinite(Number(value)) ? [{ [key]: Number(value) }] : []), ...same],
    differs: [{ config: other === undefined ? {} : { [key]: other }, changes: [seen], update: { [key]: value } }],
  }
}

export const OPTION_ROWS: readonly OptionRow[] = [
  simple('cores', { cpu: { cores: 4 } }, 'cores', '4', 2, ['cpu.cores', 2, 4, 'restart']),
  simple('cores, left out is 1', { cpu: { cores: 1 } }, 'cores', '1', 2, ['cpu.cores', 2, 1, 'restart'], [{}]),
  simple('sockets', { cpu: { sockets: 2 } }, 'sockets', '2', undefined, ['cpu.sockets', 1, 2, 'restart']),
  simple('numa', { cpu: { numa: true } }, 'numa', '1', 0, ['cpu.numa', false, true, 'restart']),
  simple('cpu limit', { cpu: { limit: 2.5 } }, 'cpulimit', '2.5', undefined, ['cpu.limit', 0, 2.5, 'live']),
  simple('cpu units', { cpu: { units: 1024 } }, 'cpuunits', '1024', 2048, ['cpu.units', 2048, 1024, 'live'], [{}]),
  simple('cpu units that are no default', { cpu: { units: 500 } }, 'cpuunits', '500', undefined, [
    'cpu.units',
    0,
    500,
    'live',
  ]),
  {
    what: 'hotplugged processors',
    declared: { cpu: { hotplugged: 2 } },
    create: { vcpus: '2' },
    same: [{ vcpus: 2 }],
    differs: [
      { config: {}, changes: [['cpu.hotplugged', 0, 2, 'restart']], update: { vcpus: '2' } },
      {
        config: { vcpus: 1, hotplug: 'cpu,disk' },
        changes: [['cpu.hotplugged', 1, 2, 'live']],
        update: { vcpus: '2' },
      },
    ],
  },
  {
    what: 'all processors plugged',
    declared: { cpu: { hotplugged: 0 } },
    create: {},
    same: [{}],
    differs: [{ config: { vcpus: 3 }, changes: [['cpu.hotplugged', 3, 0, 'restart']], update: { delete: 'vcpus' } }],
  },
  {
    what: 'cpu type and flags',
    declared: { cpu: { type: 'host', flags: ['+aes', '-pcid'] } },
    create: { cpu: 'host,flags=+aes;-pcid' },
    same: [
      { cpu: 'host,flags=+aes;-pcid' },
      { cpu: 'flags=-pcid;+aes,cputype=host' },
      { cpu: 'host,hidden=1,flags=+aes;-pcid' },
    ],
    differs: [
      {
        config: { cpu: 'kvm64,hidden=1,flags=+aes;-pcid' },
        changes: [['cpu.type', 'kvm64', 'host', 'restart']],
        update: { cpu: 'host,hidden=1,flags=+aes;-pcid' },
      },
      {
        config: {},
        changes: [
          ['cpu.type', 'kvm64', 'host', 'restart'],
          ['cpu.flags', [], ['+aes', '-pcid'], 'restart'],
        ],
        update: { cpu: 'host,flags=+aes;-pcid' },
      },
    ],
  },
  simple(
    'cpu type, left out is kvm64',
    { cpu: { type: 'kvm64' } },
    'cpu',
    'kvm64',
    'host',
    ['cpu.type', 'host', 'kvm64', 'restart'],
    [{}],
  ),
  {
    what: 'memory',
    declared: { memory: { dedicatedMb: 2048 } },
    create: { memory: '2048' },
    same: [{ memory: '2048' }, { memory: 2048 }, { memory: 'current=2048' }],
    differs: [
      { config: {}, changes: [['memory.dedicatedMb', 512, 2048, 'restart']], update: { memory: '2048' } },
      {
        config: { memory: '1024', hotplug: 'memory', numa: 1 },
        changes: [['memory.dedicatedMb', 1024, 2048, 'live']],
        update: { memory: '2048' },
      },
      {
        config: { memory: '4096', hotplug: 'memory', numa: 1 },
        changes: [['memory.dedicatedMb', 4096, 2048, 'restart']],
        update: { memory: '2048' },
      },
    ],
  },
  simple('balloon off', { memory: { floatingMb: 0 } }, 'balloon', '0', undefined, [
    'memory.floatingMb',
    512,
    0,
    'restart',
  ]),
  simple('balloon', { memory: { floatingMb: 256 } }, 'balloon', '256', 300, ['memory.floatingMb', 300, 256, 'live']),
  {
    what: 'balloon as large as the memory is the default',
    declared: { memory: { dedicatedMb: 2048, floatingMb: 2048 } },
    create: { memory: '2048', balloon: '2048' },
    same: [{ memory: '2048' }],
    differs: [],
  },
  {
    what: 'shared memory',
    declared: { memory: { shared: 32 } },
    create: { ivshmem: 'size=32,name=vm-114-ivshmem' },
    same: [{ ivshmem: 'name=x,size=32' }],
    differs: [
      {
        config: {},
        changes: [['memory.shared', 0, 32, 'restart']],
        update: { ivshmem: 'size=32,name=vm-114-ivshmem' },
      },
    ],
  },
  simple(
    'machine',
    { machine: 'q35' },
    'machine',
    'q35',
    undefined,
    ['machine', 'pc', 'q35', 'restart'],
    [{ machine: 'pc-q35-10.0+pve1' }],
  ),
  simple(
    'machine, left out is pc',
    { machine: 'pc' },
    'machine',
    'pc',
    'q35',
    ['machine', 'q35', 'pc', 'restart'],
    [{}, { machine: 'pc-i440fx-10.0+pve1' }],
  ),
  simple(
    'machine with more parts',
    { machine: 'q35,viommu=virtio' },
    'machine',
    'q35,viommu=virtio',
    'q35',
    ['machine', 'q35', 'q35,viommu=virtio', 'restart'],
    [{ machine: 'viommu=virtio,type=q35' }],
  ),
  simple('bios', { bios: 'ovmf' }, 'bios', 'ovmf', undefined, ['bios', 'seabios', 'ovmf', 'restart']),
  simple('os type', { osType: 'l26' }, 'ostype', 'l26', undefined, ['osType', 'other', 'l26', 'restart']),
  simple('scsi controller', { scsiHardware: 'virtio-scsi-single' }, 'scsihw', 'virtio-scsi-single', undefined, [
    'scsiHardware',
    'lsi',
    'virtio-scsi-single',
    'restart',
  ]),
  simple('tablet', { tablet: false }, 'tablet', '0', undefined, ['tablet', true, false, 'live']),
  simple('keyboard', { keyboard: 'de' }, 'keyboard', 'de', 'fr', ['keyboard', 'fr', 'de', 'restart']),
  simple(
    'start at boot',
    { onBoot: true },
    'onboot',
    '1',
    undefined,
    ['onBoot', false, true, 'live'],
    [{ onboot: true }],
  ),
  simple('no start at boot', { onBoot: false }, 'onboot', '0', 1, ['onBoot', true, false, 'live'], [{}]),
  {
    what: 'startup order',
    declared: { startup: { order: 5, upSeconds: 30 } },
    create: { startup: 'order=5,up=30' },
    same: [{ startup: '5,up=30' }, { startup: 'up=30,order=5,down=60' }],
    differs: [
      {
        config: { startup: '5,down=60' },
        changes: [['startup.upSeconds', undefined, 30, 'live']],
        update: { startup: 'order=5,down=60,up=30' },
      },
    ],
  },
  simple('protection', { protection: true }, 'protection', '1', 0, ['protection', false, true, 'live']),
  {
    what: 'agent',
    declared: { agent: { enabled: true, trim: true } },
    create: { agent: '1,fstrim_cloned_disks=1' },
    same: [{ agent: 'enabled=1,fstrim_cloned_disks=1' }, { agent: 'fstrim_cloned_disks=1,1,type=virtio' }],
    differs: [
      {
        config: {},
        changes: [
          ['agent.enabled', false, true, 'restart'],
          ['agent.trim', false, true, 'live'],
        ],
        update: { agent: '1,fstrim_cloned_disks=1' },
      },
      {
        config: { agent: '1,type=isa' },
        changes: [['agent.trim', false, true, 'live']],
        update: { agent: '1,type=isa,fstrim_cloned_disks=1' },
      },
    ],
  },
  {
    what: 'agent off',
    declared: { agent: { enabled: false, trim: false, type: 'virtio' } },
    create: { agent: '0,fstrim_cloned_disks=0,type=virtio' },
    same: [{}, { agent: '0' }, { agent: 'enabled=0,type=isa' }],
    differs: [{ config: { agent: '1' }, changes: [['agent.enabled', true, false, 'restart']], update: { agent: '0' } }],
  },
  {
    what: 'empty disk',
    declared: disk({
      sizeGb: 32,
      iothread: true,
      discard: 'on',
      ssd: false,
      cache: 'none',
      aio: 'io_uring',
      backup: true,
      replicate: true,
    }),
    create: {
      scsi0: 'local:32,cache=none,aio=io_uring,iothread=1,ssd=0,discard=on,backup=1,replicate=1',
      boot: 'order=scsi0',
    },
    same: [
      scsi0('local:114/vm-114-disk-0.raw,iothread=1,discard=on,size=32G'),
      scsi0('size=32768M,discard=on,ssd=0,iothread=1,file=local:114/vm-114-disk-0.raw'),
    ],
    differs: [
      {
        config: scsi0('local:114/vm-114-disk-0.raw,size=32G,mbps=5,cache=writeback'),
        changes: [
          ['disks.scsi0.cache', 'writeback', 'none', 'restart'],
          ['disks.scsi0.iothread', false, true, 'restart'],
          ['disks.scsi0.discard', 'ignore', 'on', 'restart'],
        ],
        update: scsi0('local:114/vm-114-disk-0.raw,size=32G,mbps=5,cache=none,iothread=1,discard=on'),
      },
      {
        config: scsi0('local:114/vm-114-disk-0.raw,size=32G,iothread=1,discard=on,backup=0'),
        changes: [['disks.scsi0.backup', false, true, 'live']],
        update: scsi0('local:114/vm-114-disk-0.raw,size=32G,iothread=1,discard=on,backup=1'),
      },
      {
        config: scsi0('local:114/vm-114-disk-0.raw,size=64G,iothread=1,discard=on'),
        changes: [['disks.scsi0.sizeGb', 64, 32, 'replace']],
        update: {},
      },
      {
        config: scsi0('fast:vm-114-disk-0,size=32G,iothread=1,discard=on'),
        changes: [['disks.scsi0.storage', 'fast', 'local', 'live']],
        update: {},
      },
    ],
  },
  {
    what: 'imported disk',
    declared: disk({ sizeGb: 50, importFrom: 'local:import/noble.qcow2', format: 'qcow2', serial: 'a b' }),
    create: { scsi0: 'local:0,import-from=local:import/noble.qcow2,format=qcow2,serial=a%20b', boot: 'order=scsi0' },
    same: [scsi0('local:114/vm-114-disk-0.qcow2,serial=a%20b,size=50G')],
    differs: [
      {
        config: {},
        changes: [
          ['disks.scsi0', undefined, 'local:0,import-from=local:import/noble.qcow2,format=qcow2,serial=a%20b', 'live'],
        ],
        update: scsi0('local:0,import-from=local:import/noble.qcow2,format=qcow2,serial=a%20b'),
      },
      {
        config: { hotplug: '0' },
        changes: [
          [
            'disks.scsi0',
            undefined,
            'local:0,import-from=local:import/noble.qcow2,format=qcow2,serial=a%20b',
            'restart',
          ],
        ],
        update: scsi0('local:0,import-from=local:import/noble.qcow2,format=qcow2,serial=a%20b'),
      },
      {
        config: scsi0('local:114/vm-114-disk-0.raw,serial=a%20b,size=50G'),
        changes: [['disks.scsi0.format', 'raw', 'qcow2', 'live']],
        update: {},
      },
      {
        config: scsi0('local:114/vm-114-disk-0.qcow2,serial=a%20b,size=3584M'),
        changes: [['disks.scsi0.sizeGb', 3.5, 50, 'live']],
        update: {},
      },
    ],
  },
  {
    what: 'disk without a declared size',
    declared: disk({}),
    create: { scsi0: 'local:8', boot: 'order=scsi0' },
    same: [scsi0('local:114/vm-114-disk-0.raw,size=64M'), scsi0('local:vm-114-disk-0')],
    differs: [],
  },
  {
    what: 'EFI disk',
    declared: { efiDisk: { storage: 'local', type: '4m', preEnrolledKeys: true } },
    create: { efidisk0: 'local:1,efitype=4m,pre-enrolled-keys=1' },
    same: [{ efidisk0: 'local:114/vm-114-disk-0.raw,pre-enrolled-keys=1,ms-cert=2023k,efitype=4m,size=528K' }],
    differs: [
      {
        config: {},
        changes: [['efiDisk', undefined, 'local:1,efitype=4m,pre-enrolled-keys=1', 'restart']],
        update: { efidisk0: 'local:1,efitype=4m,pre-enrolled-keys=1' },
      },
      {
        config: { efidisk0: 'fast:x,size=528K' },
        changes: [
          ['efiDisk.storage', 'fast', 'local', 'live'],
          ['efiDisk.type', '2m', '4m', 'replace'],
          ['efiDisk.preEnrolledKeys', false, true, 'replace'],
        ],
        update: {},
      },
    ],
  },
  {
    what: 'CD drive',
    declared: { cdrom: [{ slot: 'ide0', file: 'local:iso/a.iso' }] },
    create: { ide0: 'local:iso/a.iso,media=cdrom' },
    same: [{ ide0: 'media=cdrom,size=4M,file=local:iso/a.iso' }],
    differs: [
      {
        config: { ide0: 'none,media=cdrom' },
        changes: [['cdrom.ide0', 'none', 'local:iso/a.iso', 'live']],
        update: { ide0: 'local:iso/a.iso,media=cdrom' },
      },
      {
        config: {},
        changes: [['cdrom.ide0', undefined, 'local:iso/a.iso', 'restart']],
        update: { ide0: 'local:iso/a.iso,media=cdrom' },
      },
    ],
  },
  {
    what: 'network card',
    declared: nic({
      firewall: true,
      vlan: 10,
      mtu: 1400,
      queues: 2,
      rateMBps: 12.5,
      trunks: [30, 10, 11],
      disconnected: false,
    }),
    create: { net0: 'virtio,bridge=vmbr0,firewall=1,link_down=0,mtu=1400,queues=2,rate=12.5,tag=10,trunks=30;10;11' },
    same: [
      net0('virtio=BC:24:11:00:00:01,bridge=vmbr0,firewall=1,mtu=1400,queues=2,rate=12.5,tag=10,trunks=10-11;30'),
      net0(
        'tag=10,trunks=30;11;10,rate=12.50,queues=2,mtu=1400,firewall=1,macaddr=BC:24:11:00:00:01,model=virtio,bridge=vmbr0,link_down=0',
      ),
    ],
    differs: [
      {
        config: net0('virtio=BC:24:11:00:00:01,bridge=vmbr1,firewall=1,mtu=1400,queues=2,rate=12.5,trunks=10;11;30'),
        changes: [
          ['nics.net0.bridge', 'vmbr1', 'vmbr0', 'live'],
          ['nics.net0.vlan', undefined, 10, 'live'],
        ],
        update: net0(
          'virtio=BC:24:11:00:00:01,bridge=vmbr0,firewall=1,mtu=1400,queues=2,rate=12.5,trunks=10;11;30,tag=10',
        ),
      },
    ],
  },
  {
    what: 'network card without extras',
    declared: nic({ vlan: 0, mtu: 0, mac: 'bc:24:11:00:00:01' }),
    create: { net0: 'virtio=bc:24:11:00:00:01,bridge=vmbr0' },
    same: [net0('virtio=BC:24:11:00:00:01,bridge=vmbr0'), net0('bridge=vmbr0,virtio=BC:24:11:00:00:01,firewall=1')],
    differs: [
      {
        config: net0('e1000=BC:24:11:00:00:01,bridge=vmbr0,tag=5'),
        changes: [
          ['nics.net0.model', 'e1000', 'virtio', 'live'],
          ['nics.net0.vlan', 5, 0, 'live'],
        ],
        update: net0('virtio=BC:24:11:00:00:01,bridge=vmbr0'),
      },
      {
        config: net0('virtio=BC:24:11:00:00:02,bridge=vmbr0'),
        changes: [['nics.net0.mac', 'BC:24:11:00:00:02', 'bc:24:11:00:00:01', 'live']],
        update: net0('virtio=bc:24:11:00:00:01,bridge=vmbr0'),
      },
      {
        config: { hotplug: 'disk' },
        changes: [['nics.net0', undefined, 'virtio=bc:24:11:00:00:01,bridge=vmbr0', 'restart']],
        update: net0('virtio=bc:24:11:00:00:01,bridge=vmbr0'),
      },
    ],
  },
  {
    what: 'cloud-init drive',
    declared: ci({}),
    create: { ide2: 'local:cloudinit' },
    same: [
      DRIVE,
      { ide2: 'media=cdrom,file=local:114/vm-114-cloudinit.qcow2' },
      { scsi1: 'local:vm-114-cloudinit,media=cdrom' },
    ],
    differs: [
      {
        config: {},
        changes: [['cloudInit.storage', undefined, 'local', 'restart']],
        update: { ide2: 'local:cloudinit' },
      },
      {
        config: { ide0: 'fast:vm-114-cloudinit,media=cdrom' },
        changes: [['cloudInit.storage', 'fast', 'local', 'live']],
        update: { ide0: 'local:cloudinit' },
      },
    ],
  },
  {
    what: 'cloud-init user, dns, upgrade',
    declared: ci({ user: 'ubuntu', dnsServers: ['1.1.1.1', '9.9.9.9'], dnsDomain: 'x.test', upgrade: false }),
    create: {
      ide2: 'local:cloudinit',
      ciuser: 'ubuntu',
      nameserver: '1.1.1.1 9.9.9.9',
      searchdomain: 'x.test',
      ciupgrade: '0',
    },
    same: [{ ...DRIVE, ciuser: 'ubuntu', nameserver: '1.1.1.1  9.9.9.9', searchdomain: 'x.test', ciupgrade: 0 }],
    differs: [
      {
        config: DRIVE,
        changes: [
          ['cloudInit.user', '', 'ubuntu', 'live'],
          ['cloudInit.dnsServers', [], ['1.1.1.1', '9.9.9.9'], 'live'],
          ['cloudInit.dnsDomain', '', 'x.test', 'live'],
          ['cloudInit.upgrade', true, false, 'live'],
        ],
        update: { ciuser: 'ubuntu', nameserver: '1.1.1.1 9.9.9.9', searchdomain: 'x.test', ciupgrade: '0' },
      },
    ],
  },
  {
    what: 'cloud-init keys',
    declared: ci({ sshKeys: [KEY, `${KEY}2\n`] }),
    create: { ide2: 'local:cloudinit', sshkeys: encodeURIComponent(`${KEY}\n${KEY}2`) },
    same: [
      { ...DRIVE, sshkeys: encodeURIComponent(`${KEY}\n${KEY}2\n`) },
      { ...DRIVE, sshkeys: encodeURIComponent(`${KEY}\r\n\n${KEY}2`) },
    ],
    differs: [
      {
        config: { ...DRIVE, sshkeys: '%zz' },
        changes: [['cloudInit.sshKeys', ['%zz'], [KEY, `${KEY}2`], 'live']],
        update: { sshkeys: encodeURIComponent(`${KEY}\n${KEY}2`) },
      },
    ],
  },
  {
    what: 'cloud-init addresses',
    declared: ci({ addresses: [{ v4: '10.0.0.5/24', gateway4: '10.0.0.1', v6: 'FD00::5/64' }, { v4: 'dhcp' }] }),
    create: { ide2: 'local:cloudinit', ipconfig0: 'ip=10.0.0.5/24,gw=10.0.0.1,ip6=FD00::5/64', ipconfig1: 'ip=dhcp' },
    same: [
      { ...DRIVE, ipconfig0: 'ip6=fd00::5/64,gw=10.0.0.1,ip=10.0.0.5/24', ipconfig1: 'ip=dhcp', ipconfig2: 'ip=dhcp' },
    ],
    differs: [
      {
        config: { ...DRIVE, ipconfig0: 'ip=10.0.0.5/24,gw=10.0.0.1,ip6=fd00::5/64,gw6=fd00::1', ipconfig1: 'ip=dhcp' },
        changes: [
          [
            'cloudInit.addresses.0',
            'ip=10.0.0.5/24,gw=10.0.0.1,ip6=fd00::5/64,gw6=fd00::1',
            'ip=10.0.0.5/24,gw=10.0.0.1,ip6=FD00::5/64',
            'live',
          ],
        ],
        update: { ipconfig0: 'ip=10.0.0.5/24,gw=10.0.0.1,ip6=FD00::5/64' },
      },
    ],
  },
  {
    what: 'cloud-init documents',
    declared: ci({ userData: 'local:snippets/u.yaml', vendorData: 'local:snippets/v.yaml' }),
    create: { ide2: 'local:cloudinit', cicustom: 'user=local:snippets/u.yaml,vendor=local:snippets/v.yaml' },
    same: [
      { ...DRIVE, cicustom: 'vendor=local:snippets/v.yaml,network=local:snippets/n.yaml,user=local:snippets/u.yaml' },
    ],
    differs: [
      {
        config: { ...DRIVE, cicustom: 'network=local:snippets/n.yaml,user=local:snippets/u.yaml' },
        changes: [['cloudInit.vendorData', undefined, 'local:snippets/v.yaml', 'live']],
        update: { cicustom: 'network=local:snippets/n.yaml,user=local:snippets/u.yaml,vendor=local:snippets/v.yaml' },
      },
    ],
  },
  {
    what: 'cloud-init password',
    declared: ci({ password: { env: 'PW' } }),
    create: { ide2: 'local:cloudinit' },
    same: [{ ...DRIVE, cipassword: '**********' }],
    differs: [
      {
        config: DRIVE,
        changes: [['cloudInit.password', undefined, '***', 'live']],
        update: { cipassword: '{"env":"PW"}' },
      },
    ],
  },
  {
    what: 'serial port',
    declared: { serial: [{ slot: 'serial0', device: 'socket' }] },
    create: { serial0: 'socket' },
    same: [{ serial0: 'socket' }],
    differs: [
      { config: {}, changes: [['serial.serial0', undefined, 'socket', 'restart']], update: { serial0: 'socket' } },
    ],
  },
  {
    what: 'screen',
    declared: { vga: { type: 'virtio', memoryMb: 64 } },
    create: { vga: 'virtio,memory=64' },
    same: [{ vga: 'memory=64,type=virtio' }],
    differs: [
      {
        config: { vga: 'virtio,clipboard=vnc' },
        changes: [['vga.memoryMb', undefined, 64, 'restart']],
        update: { vga: 'virtio,clipboard=vnc,memory=64' },
      },
    ],
  },
  simple(
    'standard screen, left out',
    { vga: { type: 'std' } },
    'vga',
    'std',
    'serial0',
    ['vga.type', 'serial0', 'std', 'restart'],
    [{}],
  ),
  simple('boot order', { bootOrder: ['scsi0', 'net0'] }, 'boot', 'order=scsi0;net0', 'order=net0;scsi0', [
    'bootOrder',
    ['net0', 'scsi0'],
    ['scsi0', 'net0'],
    'restart',
  ]),
  simple('boot order in the old form', { bootOrder: ['scsi0'] }, 'boot', 'order=scsi0', 'cdn', [
    'bootOrder',
    [],
    ['scsi0'],
    'restart',
  ]),
  {
    what: 'audio device',
    declared: { audio: { device: 'intel-hda', driver: 'none' } },
    create: { audio0: 'device=intel-hda,driver=none' },
    same: [{ audio0: 'driver=none,device=intel-hda' }],
    differs: [
      {
        config: {},
        changes: [['audio', undefined, 'device=intel-hda,driver=none', 'restart']],
        update: { audio0: 'device=intel-hda,driver=none' },
      },
      {
        config: { audio0: 'device=AC97,driver=none' },
        changes: [['audio.device', 'AC97', 'intel-hda', 'restart']],
        update: { audio0: 'device=intel-hda,driver=none' },
      },
    ],
  },
  {
    what: 'no audio device',
    declared: { audio: false },
    create: {},
    same: [{}],
    differs: [
      {
        config: { audio0: 'device=AC97' },
        changes: [['audio', 'device=AC97', 'none', 'restart']],
        update: { delete: 'audio0' },
      },
    ],
  },
  {
    what: 'random numbers',
    declared: { rng: { source: '/dev/urandom', maxBytes: 1024 } },
    create: { rng0: '/dev/urandom,max_bytes=1024' },
    same: [{ rng0: 'source=/dev/urandom' }, { rng0: '/dev/urandom,max_bytes=1024,period=1000' }],
    differs: [
      {
        config: { rng0: '/dev/random,period=500' },
        changes: [['rng.source', '/dev/random', '/dev/urandom', 'restart']],
        update: { rng0: '/dev/urandom,period=500' },
      },
    ],
  },
  {
    what: 'watchdog',
    declared: { watchdog: { model: 'i6300esb', action: 'reset' } },
    create: { watchdog: 'i6300esb,action=reset' },
    same: [{ watchdog: 'action=reset' }, { watchdog: 'model=i6300esb,action=reset' }],
    differs: [
      {
        config: { watchdog: 'ib700' },
        changes: [
          ['watchdog.model', 'ib700', 'i6300esb', 'restart'],
          ['watchdog.action', 'none', 'reset', 'restart'],
        ],
        update: { watchdog: 'i6300esb,action=reset' },
      },
    ],
  },
  {
    what: 'firmware tables, whose UUID stays',
    declared: { smbios: { manufacturer: 'ACME Inc' } },
    create: { smbios1: 'base64=1,manufacturer=QUNNRSBJbmM=' },
    same: [{ smbios1: 'uuid=a3c19f37-f7c9-4f6e-9a4b-1d1d1d1d1d1d,base64=1,manufacturer=QUNNRSBJbmM=' }],
    differs: [
      {
        config: { smbios1: 'uuid=a3c19f37-f7c9-4f6e-9a4b-1d1d1d1d1d1d,product=X' },
        changes: [['smbios.manufacturer', undefined, 'ACME Inc', 'restart']],
        update: {
          smbios1: 'uuid=a3c19f37-f7c9-4f6e-9a4b-1d1d1d1d1d1d,base64=1,manufacturer=QUNNRSBJbmM=,product=WA==',
        },
      },
    ],
  },
  {
    what: 'NUMA node',
    declared: { numaNodes: [{ slot: 'numa0', cpus: '0-3', memoryMb: 1024 }] },
    create: { numa0: 'cpus=0-3,memory=1024' },
    same: [{ numa0: 'memory=1024,cpus=0-3,hostnodes=0' }],
    differs: [
      {
        config: { numa0: 'cpus=0-1,memory=1024,policy=bind' },
        changes: [['numaNodes.numa0.cpus', '0-1', '0-3', 'restart']],
        update: { numa0: 'cpus=0-3,memory=1024,policy=bind' },
      },
    ],
  },
  {
    what: 'USB device by its mapping',
    declared: { usb: [{ slot: 'usb0', mapping: 'coral', usb3: true }] },
    create: { usb0: 'mapping=coral,usb3=1' },
    same: [{ usb0: 'usb3=1,mapping=coral' }],
    differs: [
      {
        config: {},
        changes: [['usb.usb0', undefined, 'mapping=coral,usb3=1', 'restart']],
        update: { usb0: 'mapping=coral,usb3=1' },
      },
      {
        config: { usb0: 'mapping=stick,usb3=1', hotplug: 'disk' },
        changes: [['usb.usb0.mapping', 'stick', 'coral', 'restart']],
        update: { usb0: 'mapping=coral,usb3=1' },
      },
    ],
  },
  {
    what: 'PCI device by its mapping',
    declared: { pci: [{ slot: 'hostpci0', mapping: 'gpu', pcie: true, romBar: true }] },
    create: { hostpci0: 'mapping=gpu,pcie=1,rombar=1' },
    same: [{ hostpci0: 'pcie=1,mapping=gpu' }],
    differs: [
      {
        config: { hostpci0: 'mapping=gpu,rombar=0' },
        changes: [
          ['pci.hostpci0.pcie', false, true, 'restart'],
          ['pci.hostpci0.romBar', false, true, 'restart'],
        ],
        update: { hostpci0: 'mapping=gpu,rombar=1,pcie=1' },
      },
    ],
  },
  {
    what: 'directory of the host',
    declared: { virtiofs: [{ slot: 'virtiofs0', mapping: 'share', cache: 'never' }] },
    create: { virtiofs0: 'share,cache=never' },
    same: [{ virtiofs0: 'dirid=share,cache=never' }],
    differs: [
      {
        config: { virtiofs0: 'share' },
        changes: [['virtiofs.virtiofs0.cache', 'auto', 'never', 'restart']],
        update: { virtiofs0: 'share,cache=never' },
      },
    ],
  },
  {
    what: 'TPM',
    declared: { tpm: { storage: 'local', version: 'v2.0' } },
    create: { tpmstate0: 'local:1,version=v2.0' },
    same: [{ tpmstate0: 'local:114/vm-114-disk-1.raw,size=4M,version=v2.0' }],
    differs: [
      {
        config: {},
        changes: [['tpm', undefined, 'local:1,version=v2.0', 'restart']],
        update: { tpmstate0: 'local:1,version=v2.0' },
      },
      {
        config: { tpmstate0: 'local:114/vm-114-disk-1.raw,size=4M' },
        changes: [['tpm.version', 'v1.2', 'v2.0', 'replace']],
        update: {},
      },
    ],
  },
  {
    what: 'speed limits',
    declared: disk({ sizeGb: 8, speed: { read: 100, iopsWriteBurst: 500 } }),
    create: { ...scsi0('local:8,mbps_rd=100,iops_wr_max=500'), boot: 'order=scsi0' },
    same: [scsi0('local:114/vm-114-disk-0.raw,iops_wr_max=500,mbps_rd=100,size=8G')],
    differs: [
      {
        config: scsi0('local:114/vm-114-disk-0.raw,mbps_rd=50,iops_wr_max=500,size=8G'),
        changes: [['disks.scsi0.speed.read', 50, 100, 'live']],
        update: scsi0('local:114/vm-114-disk-0.raw,mbps_rd=100,iops_wr_max=500,size=8G'),
      },
    ],
  },
  simple(
    'hot-plugging, in any order',
    { hotplug: 'disk,memory' },
    'hotplug',
    'disk,memory',
    'disk',
    ['hotplug', 'disk', 'disk,memory', 'restart'],
    [{ hotplug: 'memory,disk' }],
  ),
  simple(
    'hot-plugging, the usual',
    { hotplug: '1' },
    'hotplug',
    '1',
    '0',
    ['hotplug', '0', '1', 'live'],
    [{}, { hotplug: 'network,disk,usb' }],
  ),
  simple('ACPI', { acpi: false }, 'acpi', '0', undefined, ['acpi', true, false, 'restart']),
  simple('memory shares', { memory: { shares: 500 } }, 'shares', '500', undefined, [
    'memory.shares',
    1000,
    500,
    'live',
  ]),
  {
    what: 'format of the cloud-init data',
    declared: ci({ type: 'configdrive2' }),
    create: { ide2: 'local:cloudinit', citype: 'configdrive2' },
    same: [{ ...DRIVE, citype: 'configdrive2' }],
    differs: [
      {
        config: DRIVE,
        changes: [['cloudInit.type', 'nocloud', 'configdrive2', 'live']],
        update: { citype: 'configdrive2' },
      },
    ],
  },
]
