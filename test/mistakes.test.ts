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
    made: 'a name with a capital letter and an underscore',
    text: machine(WEB, 'My_VM'),
    at: '3:18',
    says: /metadata\.name is "My_VM"; expected a name/,
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
    made: 'a window of time that nobody can read',
    text: cluster(`  version: v1.34.3+k3s1\n${one}\n  upgrade: {windows: ["at night"]}`),
    at: '9:23',
    says: /at night/,
    hint: /days, from, to, timeZone/,
  },
]

describe('thirty mistakes: each message says what, where and what to do', () => {
  test('there are at least thirty', () => assert.ok(MISTAKES.length >= 30, String(MISTAKES.length)))
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
