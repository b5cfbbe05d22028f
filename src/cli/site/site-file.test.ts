import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partsOfSite } from './render-site.ts'
import { readSiteFile } from './site-file.ts'

function read(text: string): readonly string[] {
  const found = readSiteFile(text, 'site.yaml')
  if ('problems' in found)
    return found.problems.map(({ origin, message }) => `${origin.file}:${origin.line}:${origin.column} ${message}`)
  return partsOfSite(found.site, (file) => file).map(({ what, name, from }) => `${what} ${name} <- ${from ?? '-'}`)
}

test('a file lists hosts with their bridges, storages and guests', () => {
  const text = `hosts:
  - name: pve1
    memory: 128Gi
    bridges: [vmbr0, vmbr1]
    storages:
      - {name: tank, type: zfspool, size: 4Ti}
      - {name: nas, type: nfs}
    guests:
      - {id: 9000, name: debian, template: true}
  - name: pve2
    storages:
      - {name: nas}
pools: [web]
`
  assert.deepEqual(read(text), [
    'host pve1 <- site.yaml:2',
    'bridge pve1/vmbr0 <- site.yaml:4',
    'bridge pve1/vmbr1 <- site.yaml:4',
    'host pve2 <- site.yaml:10',
    'bridge pve2/vmbr0 <- -',
    'storage local (dir) <- -',
    'storage tank (zfspool, 4096 GiB, on pve1) <- site.yaml:6',
    'storage nas (nfs, on pve1, pve2) <- site.yaml:7',
    'pool web <- site.yaml:13',
    'template pve1/9000 debian <- site.yaml:9',
  ])
})

const wrong: readonly (readonly [says: string, text: string, told: RegExp])[] = [
  ['an unknown field', 'hosts:\n  - name: pve1\n    bridge: vmbr0\n', /^site\.yaml:3:5 .*bridge/],
  ['no host', 'hosts: []\n', /^site\.yaml:1:\d+ .*hosts/],
  ['a size in powers of ten', 'hosts:\n  - {name: a, memory: 64G}\n', /^site\.yaml:2:\d+ .*4Gi/],
  [
    'a type that Proxmox has not',
    'hosts:\n  - name: a\n    storages: [{name: st, type: zfs9}]\n',
    /^site\.yaml:3:\d+ .*zfspool/,
  ],
  ['a host twice', 'hosts:\n  - name: a\n  - name: a\n', /^site\.yaml:3:11 host a is listed twice/],
  [
    'a guest twice',
    'hosts:\n  - name: a\n    guests: [{id: 100, name: x}]\n  - name: b\n    guests: [{id: 100, name: y}]\n',
    /^site\.yaml:5:\d+ guest 100 is listed twice/,
  ],
  [
    'a storage that is two things',
    'hosts:\n  - name: a\n    storages: [{name: st, type: nfs}]\n  - name: b\n    storages: [{name: st, type: dir}]\n',
    /^site\.yaml:5:\d+ type of storage st is dir here, and host a says nfs/,
  ],
  ['manifests', 'hosts: [{name: a}]\n---\nhosts: [{name: b}]\n', /^site\.yaml:[23]:\d+ a site is one document/],
  ['no YAML', 'hosts:\n  - name: a\n bridges: [\n', /^site\.yaml:[2-4]:\d+ /],
  ['nothing', '', /^site\.yaml:1:1 the file is empty/],
]

for (const [says, text, told] of wrong)
  test(`a site file with ${says} is refused with its place`, () => {
    const [first = ''] = read(text)
    assert.match(first, told)
  })
