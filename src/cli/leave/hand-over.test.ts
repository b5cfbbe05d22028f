import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeClusterSecrets } from '../../drivers/k3s/make-secrets.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import { clusterSpec } from '../../plan/clusters/testing/fixture.ts'
import { clusterFiles, importBlocks, withImports } from './hand-over.ts'
import type { MarkedThing } from './look.ts'

const SECRETS = makeClusterSecrets({
  cluster: 'homelab',
  firstServer: 's1',
  nowMs: 1_760_000_000_000,
  randomBytes: (count) => new Uint8Array(count),
})

function cluster(names: string, more: Parameters<typeof clusterSpec>[1] = {}): ClusterDeclaration {
  const spec = clusterSpec(names, more)
  const placed = (node: NodeSpec, at: number) => ({ ...node, nodeIps: [`192.168.4.8${at}`] })
  return {
    key: 'Cluster/homelab',
    name: 'homelab',
    estate: 'default',
    spec: { ...spec, servers: spec.servers.map(placed) },
    artifacts: [{ release: true }],
    hosts: new Map(),
    policy: DEFAULT_POLICY,
    origin: { file: 'c.yaml', line: 1, column: 1 },
    generation: 'g1',
  }
}

test('a cluster without its CA and tokens is not handed over, and the way to read them back is a command', () => {
  assert.throws(
    () => clusterFiles(cluster('s1 s2 a1'), undefined, undefined),
    /^CliError: .*nothing was taken off.*croft cluster recover homelab --from s1/i,
  )
})

function configOf(declaration: ClusterDeclaration, node: string): string {
  const files = clusterFiles(declaration, SECRETS, undefined)
  return files.find(({ path }) => path === `homelab/nodes/${node}/config.yaml`)?.text ?? ''
}

test('the files of a single server begin its cluster on an empty disk, and join nobody', () => {
  const text = configOf(cluster('s1 a1'), 's1')
  assert.match(text, /^"cluster-init": true$/m)
  assert.doesNotMatch(text, /"server":/)
  assert.match(configOf(cluster('s1 a1'), 'a1'), /^"server": /m)
})

for (const [what, endpoint, first] of [
  ['an address', { vip: '192.168.4.79' }, 's1'],
  ['a name', { dns: 'api.example.org' }, 's1'],
  ['a server', { server: 's2' }, 's2'],
] as const)
  test(`of several servers behind ${what} the one that the others join says how all begin again`, () => {
    const declaration = cluster('s1 s2 s3', { endpoint })
    for (const name of ['s1', 's2', 's3']) {
      const text = configOf(declaration, name)
      assert.match(text, /^"server": /m)
      assert.equal(/^# .*"cluster-init": true in place of "server"/m.test(text), name === first, name)
    }
  })

test('each cluster has its own inventory', () => {
  const [file] = clusterFiles(cluster('s1 a1'), SECRETS, undefined).filter(({ path }) => /inventory/.test(path))
  assert.equal(file?.path, 'homelab/inventory.ini')
  assert.match(file?.text ?? '', /^\[homelab_server\]\ns1 ansible_host=192\.168\.4\.80\n/)
})

function vm(name: string, externalId: string): MarkedThing {
  return {
    key: `Machine/${name}`,
    connection: { driver: 'proxmox' },
    observed: { type: 'vm', host: 'pve-1', externalId },
    steps: [],
  } as unknown as MarkedThing
}

const toLines = (text: string) => [...text.matchAll(/^ {2}to = (.*)$/gm)].map(([, to]) => to)

test('a second run adds what the first could not leave, and takes nothing of it away', () => {
  const first = withImports(undefined, importBlocks([vm('s1', '101'), vm('s10', '110')]))
  const mine = `${first}\n# checked\n`
  const second = withImports(mine, importBlocks([vm('a1', '102'), vm('s1', '101')]))
  assert.ok(second.startsWith(mine), 'what a person wrote there stays')
  const resource = 'proxmox_virtual_environment_vm'
  assert.deepEqual(toLines(second), [`${resource}.s1`, `${resource}.s10`, `${resource}.a1`])
  assert.equal(withImports(second, importBlocks([vm('a1', '102')])), second)
  assert.equal(withImports(second, ''), second)
  assert.equal(withImports('', importBlocks([vm('s1', '101')])), importBlocks([vm('s1', '101')]))
})
