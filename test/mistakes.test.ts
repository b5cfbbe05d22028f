import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { load } from '../src/main/estate.ts'

/**
 * Mistakes that people make in their first week. Each answer names the thing, the place and the way out, and nothing else is
 * wrong beside it: one mistake is one message.
 */
const root = mkdtempSync(join(tmpdir(), 'croft-mistakes-'))
after(() => rmSync(root, { recursive: true, force: true }))

const SHA = `sha256:${'a'.repeat(64)}`
const GROUND = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://192.0.2.1:8006", token: {env: PROXMOX_TOKEN}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: pumped-piglet}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: AddressPool
metadata: {name: nodes}
spec: {cidr: 192.168.4.0/24, ranges: [{from: 192.168.4.80, to: 192.168.4.99}]}
---
apiVersion: croft.dev/v1alpha1
kind: Network
metadata: {name: lan}
spec: {addressPool: nodes, gateway: 192.168.4.1, dns: {servers: [192.168.4.1]}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://example.org/noble.img", fileName: noble.qcow2, storage: files, checksum: "${SHA}"}
---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: server}
spec: {cpu: {cores: 2}, memory: 4Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
`

const machine = (fields: string, name = 'web') =>
  `apiVersion: croft.dev/v1alpha1\nkind: Machine\nmetadata: {name: ${name}}\nspec:\n${fields}\n`
const WEB = '  class: server\n  host: pumped-piglet'
const cluster = (fields: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: Cluster\nmetadata: {name: home}\nspec:\n  network: lan\n  class: server\n${fields}\n`
const one = '  servers: [{name: a, host: pumped-piglet}]'

interface Mistake {
  readonly made: string
  readonly text: string
  /** Line and column. */
  readonly at: string
  readonly says: RegExp
  readonly hint?: RegExp
}

const MISTAKES: readonly Mistake[] = [
  {
    made: 'a line that is indented too little',
    text: machine('  class: server\n host: pumped-piglet'),
    at: '6:1',
    says: /same column/,
  },
  {
    made: 'a tab',
    text: machine('\tclass: server'),
    at: '5:1',
    says: /Tabs are not allowed/,
    hint: /indent with spaces/,
  },
  { made: 'a quote that is not closed', text: machine('  class: "server'), at: '6:1', says: /closing/ },
  {
    made: 'a field with a typing error',
    text: machine('  clas: server\n  host: pumped-piglet'),
    at: '5:3',
    says: /"clas" is not a field of spec/,
    hint: /did you mean class\?/,
  },
  {
    made: 'a class that does not exist',
    text: machine('  class: sever\n  host: pumped-piglet'),
    at: '5:10',
    says: /no MachineClass sever/,
    hint: /did you mean server\?/,
  },
  {
    made: 'a host that does not exist',
    text: machine('  class: server\n  host: pumped-pigle'),
    at: '6:9',
    says: /no Host pumped-pigle/,
    hint: /did you mean pumped-piglet\?/,
  },
  {
    made: 'a host of which nothing is near',
    text: machine('  class: server\n  host: pve'),
    at: '6:9',
    says: /no Host pve/,
    hint: /declared hosts: pumped-piglet/,
  },
  {
    made: 'a network that is called otherwise',
    text: machine(`${WEB}\n  networks: [{network: lann}]`),
    at: '7:24',
    says: /does not bind the network lann/,
    hint: /did you mean lan\?/,
  },
  {
    made: 'a bridge where a network belongs',
    text: machine(`${WEB}\n  networks: [{network: lan, bridge: vmbr0}]`),
    at: '7:29',
    says: /"bridge" is not a field/,
    hint: /known fields: network/,
  },
  {
    made: 'a size in the wrong unit',
    text: machine(`${WEB}\n  memory: 4GB`),
    at: '7:11',
    says: /memory is "4GB"; expected a size like 4Gi/,
    hint: /did you mean 4Gi\?/,
  },
  {
    made: 'a size without a unit',
    text: machine(`${WEB}\n  memory: 4096`),
    at: '7:11',
    says: /memory is 4096; expected a size like 4Gi/,
    hint: /add the unit: 4096Mi/,
  },
  {
    made: 'cores beside the memory, as Proxmox has them',
    text: machine(`${WEB}\n  cores: 2`),
    at: '7:3',
    says: /"cores" is not a field of spec/,
    hint: /write it as spec\.cpu\.cores/,
  },
  {
    made: 'the address outside its network card',
    text: machine(`${WEB}\n  address: 192.168.4.20`),
    at: '7:3',
    says: /"address" is not a field of spec/,
    hint: /write it as spec\.networks\[\]\.address/,
  },
  {
    made: 'a number of cores as a word',
    text: machine(`${WEB}\n  cpu: {cores: two}`),
    at: '7:16',
    says: /cpu\.cores is "two"/,
  },
  {
    made: 'a list where a map belongs',
    text: machine(`${WEB}\n  cpu: [2]`),
    at: '7:8',
    says: /cpu/,
  },
  {
    made: 'a kind with a typing error',
    text: machine(WEB).replace('Machine', 'Machin'),
    at: '2:7',
    says: /Machin is not a kind of croft\.dev/,
    hint: /did you mean Machine\?/,
  },
  {
    made: 'no apiVersion',
    text: machine(WEB).replace(/^.*\n/, ''),
    at: '1:1',
    says: /apiVersion is missing/,
    hint: /croft\.dev\/v1alpha1/,
  },
  {
    made: 'a version that croft does not have',
    text: machine(WEB).replace('v1alpha1', 'v1'),
    at: '1:13',
    says: /Machine is not known in croft\.dev\/v1/,
    hint: /write croft\.dev\/v1alpha1/,
  },
  {
    made: 'the apiVersion of a Pod',
    text: machine(WEB).replace('croft.dev/v1alpha1', 'v1'),
    at: '1:13',
    says: /Machine is not a kind of Kubernetes/,
    hint: /write croft\.dev\/v1alpha1/,
  },
  {
    made: 'two letters of the group in the wrong order',
    text: machine(WEB).replace('croft.dev', 'crfot.dev'),
    at: '1:13',
    says: /crfot\.dev is not a group that croft reads/,
    hint: /did you mean croft\.dev\/v1alpha1\?/,
  },
  {
    made: 'a name with a capital letter and an underscore',
    text: machine(WEB, 'My_VM'),
    at: '3:18',
    says: /metadata\.name is "My_VM"; expected a name/,
    hint: /did you mean my-vm\?/,
  },
  {
    made: 'one name twice',
    text: `${machine(WEB)}---\n${machine(WEB)}`,
    at: '10:18',
    says: /Machine\/web is declared twice: here and at x\.yaml:1:1/,
    hint: /remove one of them/,
  },
  {
    made: 'one key twice',
    text: machine(`${WEB}\n  class: server`),
    at: '7:3',
    says: /class/,
  },
  { made: 'no name', text: machine(WEB).replace('{name: web}', '{}'), at: '3:1', says: /metadata\.name is missing/ },
  {
    made: 'a release of Kubernetes instead of K3s',
    text: cluster(`  version: v1.34.3\n${one}`),
    at: '7:12',
    says: /expected the exact release, like v1\.34\.3\+k3s1/,
    hint: /newest of 1\.34 that croft knows/,
  },
  {
    made: 'latest',
    text: cluster(`  version: latest\n${one}`),
    at: '7:12',
    says: /expected the exact release/,
    hint: /newest that croft knows/,
  },
  {
    made: 'three servers and no address for all of them',
    text: cluster(
      '  version: v1.34.3+k3s1\n  servers: [{name: a, host: pumped-piglet}, {name: b, host: pumped-piglet}, {name: c, host: pumped-piglet}]',
    ),
    at: '4:1',
    says: /endpoint is missing: with 3 servers/,
    hint: /add endpoint: \{vip: …\}/,
  },
  {
    made: 'a flag that croft decides itself',
    text: cluster(`  version: v1.34.3+k3s1\n${one}\n  disable: [treafik]`),
    at: '9:13',
    says: /treafik/,
    hint: /traefik/,
  },
  {
    made: 'a pool whose range lies outside of its network',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: AddressPool\nmetadata: {name: other}\nspec: {cidr: 192.168.5.0/24, ranges: [{from: 192.168.5.80, to: 192.168.6.99}]}\n',
    at: '4:64',
    says: /192\.168\.6\.99 is not in 192\.168\.5\.0\/24/,
  },
  {
    made: 'a password in plain text',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: second}\nspec: {endpoint: "https://192.0.2.2:8006", token: "root@pam!x=1234"}\n',
    at: '4:51',
    says: /token/,
    hint: /env/,
  },
  {
    made: 'an address of Proxmox without https',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: second}\nspec: {endpoint: "http://pve.lan:8006", token: {env: TOKEN}}\n',
    at: '4:18',
    says: /expected an address like https:\/\/192\.168\.4\.175:8006/,
  },
  {
    made: 'an add-on for a cluster that does not exist',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: dns}\nspec: {cluster: home, preset: coredns}\n',
    at: '4:17',
    says: /home/,
  },
  {
    made: 'a preset with a typing error',
    text: `${cluster(`  version: v1.34.3+k3s1\n${one}`)}---\napiVersion: croft.dev/v1alpha1\nkind: Addon\nmetadata: {name: dns}\nspec: {cluster: home, preset: cordns}\n`,
    at: '13:31',
    says: /cordns/,
    hint: /did you mean coredns\?/,
  },
  {
    made: 'a release that YAML reads as a number',
    text: cluster(`  version: 1.34\n${one}`),
    at: '7:12',
    says: /version is "1\.34"; expected the exact release/,
    hint: /the newest of 1\.34 that croft knows is v1\.34\.\d+\+k3s\d/,
  },
  {
    made: 'a release of Kubernetes that croft has never heard of',
    text: cluster(`  version: "1.3"\n${one}`),
    at: '7:12',
    says: /version is "1\.3"; expected the exact release/,
    hint: /the newest that croft knows is v1\./,
  },
  {
    made: 'a field of another kind',
    text: machine(`${WEB}\n  started: true`),
    at: '7:3',
    says: /"started" is not a field of spec/,
    hint: /run croft explain machine\.spec to see its fields/,
  },
  {
    made: 'an address with the length of its network',
    text: machine(`${WEB}\n  networks: [{network: lan, address: 192.168.4.90/24}]`),
    at: '7:38',
    says: /expected an IPv4 address/,
    hint: /did you mean 192\.168\.4\.90\?/,
  },
  {
    made: 'an address of another network',
    text: machine(`${WEB}\n  networks: [{network: lan, address: 10.0.0.5}]`),
    at: '7:38',
    says: /10\.0\.0\.5 is not in 192\.168\.4\.0\/24, the network of AddressPool nodes/,
    hint: /choose an address of 192\.168\.4\.0\/24/,
  },
  {
    made: 'a pool without the length of its network',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: AddressPool\nmetadata: {name: other}\nspec: {cidr: 192.168.5.0}\n',
    at: '4:14',
    says: /expected an IPv4 address with its prefix/,
    hint: /did you mean 192\.168\.5\.0\/24\?/,
  },
  {
    made: 'a pool without its network',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: AddressPool\nmetadata: {name: other}\nspec: {ranges: [{from: 192.168.5.1, to: 192.168.5.9}]}\n',
    at: '4:1',
    says: /cidr is missing; it is an IPv4 address with its prefix, like 192\.168\.4\.20\/24/,
  },
  {
    made: 'a gateway that is not in the network',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: other}\nspec: {addressPool: nodes, gateway: 10.9.9.1}\n',
    at: '4:37',
    says: /gateway 10\.9\.9\.1 is not in 192\.168\.4\.0\/24, the network of AddressPool nodes/,
    hint: /write the address that the router has in 192\.168\.4\.0\/24/,
  },
  {
    made: 'one time where a list of times belongs',
    text: 'apiVersion: croft.dev/v1alpha1\nkind: Power\nmetadata: {name: night}\nspec: {schedule: {off: ["0 23 * * *"], on: "0 7 * * *"}}\n',
    at: '4:44',
    says: /schedule\.on is "0 7 \* \* \*"; expected a list/,
    hint: /write it as a list: \["0 7 \* \* \*"\]/,
  },
  {
    made: 'a merge conflict of Git that was committed',
    text: machine('  class: server\n<<<<<<< HEAD\n  host: pumped-piglet\n=======\n  host: still-fawn\n>>>>>>> other'),
    at: '6:1',
    says: /a merge conflict of Git is not resolved here/,
    hint: /keep the lines that are meant/,
  },
  {
    made: 'a window of time that nobody can read',
    text: cluster(`  version: v1.34.3+k3s1\n${one}\n  upgrade: {windows: ["at night"]}`),
    at: '9:23',
    says: /at night/,
    hint: /days, from, to, timeZone/,
  },
]

describe('forty mistakes: each message says what, where and what to do', () => {
  test('there are at least forty', () => assert.ok(MISTAKES.length >= 40, String(MISTAKES.length)))
  for (const [index, { made, text, at, says, hint }] of MISTAKES.entries()) {
    test(made, async () => {
      const directory = join(root, String(index))
      mkdirSync(directory)
      writeFileSync(join(directory, 'ground.yaml'), GROUND)
      writeFileSync(join(directory, 'x.yaml'), text)
      const { estate } = await load(directory)
      const told = estate.problems
        .filter(({ severity }) => severity === 'error')
        .map(({ origin, message, hint: way }) => ({
          where: `${origin.file}:${origin.line}:${origin.column}`,
          message,
          way,
        }))
      assert.equal(told.length, 1, JSON.stringify(told, undefined, 1))
      assert.equal(told[0]?.where, `x.yaml:${at}`, JSON.stringify(told))
      assert.match(told[0]?.message ?? '', says)
      if (hint !== undefined) assert.match(told[0]?.way ?? '', hint)
    })
  }
})

test('an image for another processor: a warning at the machine, with both', async () => {
  const directory = join(root, 'processor')
  mkdirSync(directory)
  writeFileSync(join(directory, 'ground.yaml'), GROUND.replace('org/noble.img', 'org/noble-server-arm64.img'))
  writeFileSync(join(directory, 'x.yaml'), machine(`${WEB}\n  disks: [{size: 20Gi, image: noble, storage: fast}]`))
  const { estate } = await load(directory)
  const [told, ...more] = estate.problems.filter(({ origin }) => origin.file === 'x.yaml')
  assert.deepEqual(more, [])
  assert.deepEqual([told?.severity, told?.origin.file, told?.origin.line], ['warning', 'x.yaml', 7])
  assert.match(told?.message ?? '', /image noble is for aarch64 by its name .*and the machine has x86_64: it would not/)
  assert.match(told?.hint ?? '', /name an image for amd64/)
})

test('a Secret that is not encrypted: a warning that names it and its place, and never shows what is in it', async () => {
  const secret = (name: string, fields: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\n${fields}\n`
  const directory = join(root, 'secret')
  mkdirSync(directory)
  writeFileSync(join(directory, 'ground.yaml'), GROUND)
  const open = [secret('a', 'stringData:\n  user: ""\n  ubuntu: hunter2'), secret('b', 'data: {key: aHVudGVyMg==}')]
  const none = [
    secret('c', `stringData: {ubuntu: "\${PASSWORD}"}`),
    secret('d', 'stringData: {ubuntu: "ENC[AES256_GCM,data:x]"}\nsops: {version: 3.9.0}'),
    secret('e', 'data: {}'),
  ]
  writeFileSync(join(directory, 'secrets.yaml'), [...open, ...none].join('---\n'))
  const { estate } = await load(directory)
  const told = estate.problems.filter(({ origin }) => origin.file === 'secrets.yaml')
  assert.deepEqual(
    told.map(({ code, severity, origin, message }) => [code, severity, `${origin.line}:${origin.column}`, message]),
    [
      ['a', '6:11'],
      ['b', '11:13'],
    ].map(([name, at]) => [
      'secret-in-manifest',
      'warning',
      at,
      `Secret "${name}" is not encrypted: everybody who can read the repository can read its values`,
    ]),
  )
  assert.doesNotMatch(JSON.stringify(estate.problems), /hunter2|aHVudGVyMg/)
  assert.match(told[0]?.hint ?? '', /encrypt the file with sops/)
})
