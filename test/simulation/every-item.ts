import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Files } from '../../sim/guest/files.ts'
import { addDisk, hostStateOf } from '../../sim/metal/host-state.ts'
import { ITEM_TYPES } from '../../src/drivers/ssh/items/registry.ts'
import type { Estate } from '../../src/model/estate.ts'
import { example, hostsEstate, simulateHosts } from './hosts-run.ts'

export const HOSTS = example('host-config/hosts.yaml')
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const disk = (name: string) => `/dev/disk/by-id/ata-${name}_1`

const TOOL = '#!/bin/sh\n'

/** One item of every type that there is, on a small PC that starts its kernel with grub. */
export const EVERY_ITEM = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: small}
spec:
  hosts: [duck]
  reboot: allowed
  aptRepositories: [{name: lab, uris: ["file:/srv/lab"], suites: [stable], components: [main]}]
  packages: [curl]
  users:
    - {name: deploy, groups: [adm], sudo: true}
    - {name: k3s, groups: [video], keys: ["${KEY}"]}
  directories: [{path: /srv/app, mode: "0750"}]
  files:
    - {path: /etc/new.conf, content: "new\\n"}
    - {path: /etc/issue, content: "ours\\n"}
  fetches: [{path: /usr/local/bin/tool, url: "file:/srv/tool", version: "1.0", sha256: ${createHash('sha256').update(TOOL).digest('hex')}}]
  commands: [{name: look, run: [update-initramfs, -u], unless: [test, -e, /srv/tool]}]
  lines: [{path: /etc/environment, line: "A=ours", match: "A="}]
  blocks: [{path: /etc/environment, name: b, content: "B=ours\\n"}]
  sysctl: {net.ipv4.ip_forward: 1}
  modules: [rbd]
  kernel: {args: [amd_iommu=on, iommu=pt], remove: [quiet]}
  vfio: {ids: ["10de:2484"], blacklist: [nouveau]}
  udev: [{name: stick, rules: "SUBSYSTEM==\\"usb\\", MODE=\\"0660\\"\\n"}]
  coral: usb
  units: [{name: tick.service, content: "[Service]\\nExecStart=/bin/true\\n", enabled: true, state: started}]
  sshd: {passwordAuthentication: false}
  btrfs: [{path: /srv/data, device: ${disk('DATA')}, label: data, subvolumes: [volumes], erase: [DATA1]}]
  mounts: [{path: /srv/data, device: LABEL=data, fs: btrfs, options: noatime}]
  zpools:
    - {name: tank, vdevs: [{type: mirror, devices: [${disk('ZA')}, ${disk('ZB')}]}], properties: {ashift: "12"}, erase: [ZA1, ZB1]}
  datasets: [{name: tank/media, properties: {compression: zstd}}]
  cephDisks: [{device: ${disk('CEPH')}, erase: [CEPH1]}]
  addresses: [{interface: eth0, manager: ifupdown, addresses: [192.168.14.4/24, "fd12:3456:789a:14::4/64"]}]
  hostname: duck
  hostEntries: [{address: 192.168.14.2, names: [cow.farm.example]}]
  dns: {servers: [192.168.14.1]}
  time: {timezone: Europe/Zurich, servers: [192.168.14.1]}
  nodeExporter: {}
`
/** What was declared has gone; one item stays, so that the host is still looked at. */
const NEARLY_NOTHING = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: small}
spec:
  hosts: [duck]
  directories: [{path: /etc}]
`

export const all = hostsEstate([HOSTS, EVERY_ITEM])
export const nothing = hostsEstate([HOSTS, NEARLY_NOTHING])

/** Types that no item of this estate has. */
export function missingTypes(estate: Estate): readonly string[] {
  const there = new Set(estate.resources.map(({ desired }) => (desired.type === 'item' ? desired.item.item.type : '')))
  return ITEM_TYPES.filter((type) => !there.has(type))
}

export function begin(seed: number) {
  const run = simulateHosts({ seed, estate: all })
  const duck = run.box('duck')
  for (const name of ['DATA', 'ZA', 'ZB', 'CEPH']) addDisk(duck, `ata-${name}_1`, `${name}1`, 'ext4')
  hostStateOf(duck).cards.push('0000:01:00.0 10de:2484 030000 1', '0000:00:01.0 1022:1470 060400 1')
  duck.machine.files.write('/etc/hosts', '127.0.0.1 localhost\n')
  duck.machine.files.write('/srv/tool', TOOL)
  duck.machine.files.write('/etc/issue', 'as it was\n')
  duck.machine.files.write('/etc/environment', 'PATH=/bin\nA=theirs\n')
  duck.machine.files.write('/home/k3s/.ssh/authorized_keys', 'ssh-ed25519 AAAA of-somebody\n')
  return run
}

export type Run = ReturnType<typeof begin>

/** `again`: a program that may run twice, because one after it failed. */
export function asDeclared(run: Run, hint: string, again?: string): void {
  const text = (path: string) => run.textOf('duck', path)
  assert.equal(text('/etc/new.conf'), 'new\n', hint)
  assert.equal(text('/etc/issue'), 'ours\n', hint)
  assert.equal(text('/etc/environment'), 'PATH=/bin\nA=ours\n# croft begins: b\nB=ours\n# croft ends: b\n', hint)
  const state = hostStateOf(run.box('duck'))
  assert.ok(state.users.get('deploy')?.groups.has('adm'), hint)
  assert.deepEqual(
    [...state.disks.values()].map(({ content }) => content),
    ['btrfs', 'zfs_member', 'zfs_member', ''],
    hint,
  )
  assert.equal(state.armed.size, 0, `nothing is left that would take something back; ${hint}`)
  for (const program of ['mkfs.btrfs', 'zpool create', 'dd '].filter((one) => one !== again))
    assert.equal(
      state.deeds.filter((deed) => deed.startsWith(program)).length,
      1,
      `${program}: a disk is emptied once and never again; ${hint}`,
    )
}

/** Everything that can be taken back: the disk of the host but for what croft keeps there for itself, and its state. */
export function stateOf(run: Run): object {
  const { files, active, enabled, system } = run.box('duck').machine
  const { users, packages, links } = hostStateOf(run.box('duck'))
  const found: Record<string, string> = {}
  walk(files, '', (path) => {
    if (!/^\/(?:proc|var\/lib\/croft)\//.test(path)) found[path] = run.textOf('duck', path)
  })
  return {
    files: found,
    hostname: system.hostname,
    active: [...active].sort(),
    enabled: [...enabled].sort(),
    users: [...users].map(([name, { groups, shell }]) => `${name} ${shell} ${[...groups].sort().join(',')}`),
    packages: [...packages].map(([name, version]) => `${name} ${version}`).sort(),
    links: [...links],
  }
}

function walk(files: Files, at: string, file: (path: string) => void): void {
  for (const name of files.list(at === '' ? '/' : at)) {
    if (files.isFolder(`${at}/${name}`)) walk(files, `${at}/${name}`, file)
    else file(`${at}/${name}`)
  }
}
