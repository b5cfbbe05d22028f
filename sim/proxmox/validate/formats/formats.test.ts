import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkParams } from '../check.ts'
import type { Operation } from '../operations.ts'
import { shapeReader } from '../shape.ts'

/** An operation that takes one text `p` of a format. */
function taking(format: string): Operation {
  const shape = shapeReader([{ as: format }])(0)
  return {
    method: 'POST',
    path: '/x',
    parameters: new Map([['p', { name: 'p', optional: false, shape }]]),
    required: [],
    open: false,
    returns: 'null',
    permission: 'all',
    privileged: false,
    tokenAllowed: true,
  }
}

function complaint(format: string, text: string): string {
  const checked = checkParams(taking(format), { p: text })
  return 'errors' in checked ? (checked.errors.p ?? '') : 'good'
}

/** What is said of events that cannot be read: where that was noticed, and what was expected there. */
function unreadEvents(rows: Readonly<Record<string, readonly [at: string, why: string]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rows).map(([event, [at, why]]) => [
      event,
      `invalid calendar event '${event}' - unable to parse calendar event at '${at}' - ${why}\n`,
    ]),
  )
}

type Row = readonly [format: string, good: readonly string[], bad: Readonly<Record<string, string>>]

const families: Readonly<Record<string, readonly Row[]>> = {
  names: [
    [
      'pve-node',
      ['pve1', '0', 'a-b'],
      { '': 'value does not look like a valid node name', 'a.b': 'value does not look like a valid node name' },
    ],
    [
      'pve-vmid',
      ['100', '999999999'],
      { '99': 'value does not look like a valid VM ID', '0100': 'value does not look like a valid VM ID' },
    ],
    [
      'pve-configid',
      ['my-vm', 'a1', 'A_'],
      { x: "invalid configuration ID 'x'", '1a': "invalid configuration ID '1a'" },
    ],
    ['pve-configid-list', ['', 'aa bb;cc,dd'], { 'aa,b': "invalid configuration ID 'b'" }],
    [
      'dns-name',
      ['a', 'vm.example.test', '10.0.0.1'],
      { a_b: 'value does not look like a valid DNS name', '-a': 'value does not look like a valid DNS name' },
    ],
    [
      'pve-tag-list',
      ['', 'k3s;prod', 'a,b c'],
      { 'bad!': 'invalid characters in tag', '-a': 'invalid characters in tag' },
    ],
    [
      'pve-iface',
      ['vmbr0', 'eth0.5', 'local:1'],
      { a: "invalid network interface name 'a'", 'a-b': "invalid network interface name 'a-b'" },
    ],
    ['pve-ha-resource-or-vm-id', ['vm:100', '100'], { '22:80': 'value does not look like a valid ha resource id' }],
    [
      'pve-poolid',
      ['team', 'a/b/c'],
      {
        'a/b/c/d': "pool name 'a/b/c/d' nested too deeply (max levels = 3)",
        'a b': "pool name 'a b' contains invalid characters",
      },
    ],
  ],
  addresses: [
    [
      'ipv4',
      ['10.0.0.1'],
      {
        '10.0.0.256': 'value does not look like a valid IPv4 address',
        '10.0.0.01': 'value does not look like a valid IPv4 address',
      },
    ],
    ['ipv6', ['::1', 'fe80::1'], { 'fe80::1%eth0': 'value does not look like a valid IPv6 address' }],
    [
      'CIDR',
      ['10.0.0.1/24', 'fe80::1/64'],
      {
        '10.0.0.0/33': 'value does not look like a valid CIDR network',
        '10.0.0.0/7': 'value does not look like a valid CIDR network',
      },
    ],
    ['FullRangeCIDR', ['0.0.0.0/0'], { '0.0.0.0': 'value does not look like a valid CIDR network' }],
    ['ipv4mask', ['255.255.255.0', '0.0.0.0'], { '255.0.255.0': 'value does not look like a valid IP netmask' }],
    [
      'address',
      ['10.0.0.1', 'host.test'],
      { '0': 'value does not look like a valid address: 0', 'a b': 'value does not look like a valid address: a b' },
    ],
    [
      'pve-ipv4-config',
      ['dhcp', '10.0.0.2/24'],
      { '10.0.0.2': 'value does not look like a valid ipv4 network configuration' },
    ],
    [
      'pve-ipv6-config',
      ['auto', 'fd00::5/64'],
      { 'zz::1/64': 'value does not look like a valid ipv6 network configuration' },
    ],
    [
      'mac-addr',
      ['BC:24:11:00:00:01'],
      { 'BD:24:11:00:00:01': 'value does not look like a valid unicast MAC address' },
    ],
    ['mac-prefix', ['BC:24:11', 'BC:', 'BC:24:1'], { ZZ: 'value is not a valid unicast MAC address prefix' }],
  ],
  texts: [
    ['email-opt', ['', '0', 'a@b.test'], { nomail: 'value does not look like a valid email address' }],
    [
      'email-or-username-list',
      ['root', 'a@b.test,root'],
      { 'a b/c': 'value does not look like a valid email address or user name' },
    ],
    [
      'urlencoded',
      ['', 'ssh-ed25519%20AAAA'],
      {
        'a b': 'invalid urlencoded string: a b',
        'a+b': 'invalid urlencoded string: a+b',
        '%2': 'invalid urlencoded string: %2',
      },
    ],
  ],
  schedules: [
    [
      'pve-startup-order',
      ['1', 'order=1,up=2,down=3', 'up=5'],
      { '': 'unable to parse startup options', 'order=-1': 'unable to parse startup options' },
    ],
    [
      'pve-calendar-event',
      (
        'daily|daily UTC|*/15|mon..fri 02:00|sun 04:00|mon,wed 8..17/2:00|*-1..7 02:30|2:0,30|sat|Friday..tue|' +
        'mon02:00|25:00|2027-02-03 4:5:6|12-24|10..40/5'
      ).split('|'),
      {
        '': "invalid calendar event '' - unable to parse calendar event - event is empty\n",
        whenever: `invalid calendar event 'whenever' - unable to parse calendar event at 'whenever' - Context("weekday")\n`,
        ...unreadEvents({
          '!!': ['!!', 'Context("date or time specification")'],
          '99': ['99', 'Context("date or time specification")'],
          '02:60': ['02:60', 'Context("date or time specification")'],
          '40..10': ['40..10', 'Context("date or time specification")'],
          UTC: ['', 'Context("date or time specification")'],
          Daily: ['Daily', 'Context("weekday")'],
          'mon-fri 02:00': ['-fri 02:00', 'Nom(Eof)'],
          'mon,xyz': [',xyz', 'Nom(Eof)'],
          '*/0': ['/0', 'Nom(Eof)'],
          'sat 03:00 now': [' now', 'Nom(Eof)'],
        }),
        'x y z': `invalid calendar event 'x y z' - unable to parse calendar event at 'x' - Context("weekday")\n`,
      },
    ],
    ['pve-day-of-week-list', ['mon,sun'], { 'mon,day': "invalid day 'day'" }],
    ['pve-task-status-type-list', ['ok', 'error,warning'], { done: "invalid status 'done'" }],
  ],
  volumes: [
    [
      'pve-volume-id',
      ['local:iso/x.iso', 'local:1'],
      { '/x': "unable to parse volume ID '/x'", 'l:1': "unable to parse volume ID 'l:1'" },
    ],
    [
      'pve-volume-id-or-qm-path',
      ['none', 'cdrom', '/dev/sda', 'local:1'],
      { virtio: "unable to parse volume ID 'virtio'" },
    ],
    ['disk-size', ['8G', '512', '1.5T'], { '8Q': 'value does not look like a valid disk size: 8Q' }],
    ['pve-lxc-mp-string', ['/data', 'data'], { '../x': '../x contains illegal character sequences' }],
    ['pve-lxc-dev-string', ['/dev/null'], { null: 'null is not a valid device path' }],
  ],
  access: [
    [
      'pve-userid',
      ['root@pam', 'a@pve'],
      { '0': "user name '' is too short", ann: "value 'ann' does not look like a valid user name" },
    ],
    ['pve-tokenid-list', ['a@pve!tok'], { 'bob@pve!x': "value 'bob@pve!x' does not look like a valid token ID" }],
    ['pve-priv-list', ['VM.Audit', 'VM.Audit Sys.Modify'], { 'VM.Monitor': "invalid privilege 'VM.Monitor'" }],
    ['pve-groupid', ['ops'], { 'a b': "group name 'a b' contains invalid characters" }],
  ],
  storages: [
    [
      'pve-storage-id',
      ['local', 'local-lvm'],
      { a: "storage ID 'a' cannot be shorter than 2 characters", '1d': "storage ID '1d' contains illegal characters" },
    ],
    ['pve-storage-content-list', ['', 'images,iso'], { 'images,bogus': "invalid content type 'bogus'" }],
    ['pve-storage-path', ['/x'], { rel: 'value does not look like a valid absolute path' }],
    [
      'pve-storage-zfs-blocksize',
      ['8k', '1m', '512'],
      {
        '3k': "value '3k' is not a valid ZFS blocksize. Must be a power of 2 between 512B and 16MiB (e.g., 4k, 8k, 16k, 64k, 1m).",
      },
    ],
    [
      'storage-pair-list',
      ['1', 'local:fast'],
      { 'local:1': "entry 'local:1' contains invalid ID - storage ID '1' cannot be shorter than 2 characters\n\n" },
    ],
    [
      'pve-dir-override-list',
      ['', 'iso=/x'],
      { iso: "invalid override 'iso'", 'foo=/x': "invalid content type 'foo'" },
    ],
    [
      'prune-backups',
      ['keep-all=1', 'keep-last=2,keep-daily=3'],
      {
        'keep-all=1,keep-last=2': 'keep-all cannot be set together with other options.',
        'keep-last=x': "format error\np.keep-last: type check ('integer') failed - got 'x'",
      },
    ],
  ],
  firewall: [
    [
      'pve-fw-addr-spec',
      ['10.0.0.0/24', '10.0.0.1,10.0.0.2', '10.0.0.1-10.0.0.9', '+set', 'alias', 'dc/alias'],
      {
        '300.1.1.1': 'invalid IP address: Invalid quad in IP address 300.1.1.1 - 300',
        '10.0.0.1/24': 'invalid IP address: Invalid prefix 00001010000000000000000000000001/24',
        '10.0.0.1,fd00::1': "detected mixed ipv4/ipv6 addresses in address list '10.0.0.1,fd00::1'",
        '10.0.0.1,': 'extraneous commas in list',
      },
    ],
    [
      'pve-fw-dport-spec',
      ['22', '22:80', '80,443', 'https'],
      { '99999': "invalid port '99999'", '90:80': "backwards range '90:80' not allowed, did you mean '80:90'?" },
    ],
    ['pve-fw-protocol-spec', ['tcp', '6', 'icmp'], { foo: "unknown protocol 'foo'", '100': "unknown protocol '100'" }],
    [
      'IPorCIDR',
      ['10.0.0.1', '10.0.0.1/24'],
      {
        '10.0.0.0/33': 'Prefix length 33 is longer than IP address (32)',
        '10.0.0.5-10.0.0.9': 'value does not look like a valid IP address or CIDR network',
      },
    ],
  ],
  networks: [
    [
      'pve-vlan-id-or-range-list',
      ['100', '2-4094'],
      { '1': "invalid VLAN tag '1'", a: "invalid VLAN configuration 'a'" },
    ],
    ['pve-sdn-bgp-rt-list', ['', '65000:100'], { '65000': 'value does not look like a valid bgp route-target' }],
  ],
  guests: [
    ['pve-hotplug-features', ['', '1', 'disk,network'], { 'disk,foo': "invalid hotplug feature 'foo'" }],
    [
      'pve-qm-bootdisk',
      ['scsi0', 'virtio15'],
      { scsi31: "invalid boot disk 'scsi31'", net0: "invalid boot disk 'net0'" },
    ],
    [
      'pve-qm-boot',
      ['cdn', 'order=scsi0;net0', ''],
      {
        'order=': 'missing key in comma-separated list property',
        'order=foo': "format error\np.order: invalid format - invalid boot device 'foo'\n",
      },
    ],
    [
      'pve-qm-ipconfig',
      ['ip=dhcp', 'ip=10.0.0.2/24,gw=10.0.0.1', 'ip6=auto'],
      {
        'gw=10.0.0.1': "format error\np.ip: missing property required by 'p.gw'",
        dhcp: 'value without key, but schema does not define a default key',
      },
    ],
    ['pve-ct-timezone', ['host', 'Europe/Vienna', 'UTC'], { 'Mars/X': "invalid time zone 'Mars/X'" }],
    ['pve-cpuset', ['', '0,5,8-11'], { '0-x': 'unable to parse cpuset option' }],
  ],
  machine: [
    [
      'pve-vm-cpu-conf',
      ['host', 'x86-64-v2-AES', 'host,flags=+aes;-pcid', 'cputype=kvm64'],
      {
        '': 'CPU is missing cputype',
        pentium99: "Built-in cputype 'pentium99' is not defined (missing 'custom-' prefix?)",
        'custom-foo': "Custom cputype 'foo' not found",
        'a,b': 'duplicate key in comma-separated list property: cputype',
      },
    ],
    [
      'pve-qm-hostpci',
      ['0000:00:01.0', '22:80', 'mapping=gpu1,pcie=1'],
      { zz: 'format error\np.host: value does not match the regex pattern' },
    ],
    [
      'pve-qm-rng',
      ['/dev/urandom', 'source=/dev/urandom,max_bytes=1024'],
      {
        '/etc/passwd':
          "format error\np.source: value '/etc/passwd' does not have a value in the enumeration '/dev/urandom, /dev/random, /dev/hwrng'",
      },
    ],
    [
      'pve-qm-smbios1',
      ['base64=1,manufacturer=QUNNRQ==', 'uuid=11111111-2222-3333-4444-555555555555'],
      { 'uuid=1': 'format error\np.uuid: value does not match the regex pattern' },
    ],
    [
      'pve-qm-watchdog',
      ['i6300esb,action=reset'],
      { foo: "format error\np.model: value 'foo' does not have a value in the enumeration 'i6300esb, ib700'" },
    ],
  ],
}

for (const [family, rows] of Object.entries(families)) {
  for (const [format, good, bad] of rows) {
    test(`${family}: ${format}`, () => {
      for (const text of good) assert.equal(complaint(format, text), 'good', text)
      for (const [text, why] of Object.entries(bad)) assert.equal(complaint(format, text), `invalid format - ${why}\n`)
    })
  }
}
