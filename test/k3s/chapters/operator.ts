import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HELM } from '../../helm-here.ts'
import { sleep } from '../hosts.ts'
import { PATIENCE, type Ran, type Stage } from '../stage.ts'
import type { Story } from '../story.ts'

const ROOT = join(import.meta.dirname, '../../..')
const NAMESPACE = 'croft-system'
const PODS = ['-n', NAMESPACE, 'get', 'pods', '-l', 'app.kubernetes.io/name=croft']
const NODES = ['h1', 'h2', 'h3', 'h4']

/** croft in the cluster that croft made: its image in real pods, its chart by a real Helm, against a simulated Proxmox. */
export async function operator(stage: Stage, story: Story): Promise<void> {
  const helm = HELM
  if (helm === undefined) {
    await story.measure('the chart in pods', async () => 'not tried: there is no helm here')
    return
  }
  const datacentre = await openDatacentre(stage)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
  const files = join(stage.lab.directory, 'release')
  try {
    await story.step('image and chart are made and go to every node', async () => {
      const made = spawnSync('node', ['bin/run', 'scripts/image.ts', '--out', files], { cwd: ROOT, encoding: 'utf8' })
      assert.equal(made.status, 0, made.stderr)
      const archive = readFileSync(join(files, `croft-${version}-linux-${process.arch}.oci.tar`)).toString('base64')
      for (const name of NODES) {
        const { code, out } = await stage.lab.on(
          name,
          'base64 -d > /tmp/croft.tar && k3s ctr images import /tmp/croft.tar',
          archive,
        )
        assert.equal(code, 0, out)
      }
      return `${((archive.length * 0.75) / 1e6).toFixed(0)} MB`
    })
    await story.step('helm install', async () => {
      const crds = await stage.croft(['schema', '--crds'])
      await applied(stage, 'crds.yaml', crds.out)
      await must(stage, 'create', 'namespace', NAMESPACE)
      await must(stage, 'label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted')
      const ran = await inLab(stage, [helm, 'install', 'croft', join(files, `croft-${version}.tgz`), '-n', NAMESPACE])
      assert.equal(ran.code, 0, ran.out)
      return soon(async () => {
        const { out } = await must(stage, ...PODS, '--no-headers')
        assert.equal(out.match(/ 1\/1 +Running /g)?.length, 3, out)
        return `3 pods ready, under the restricted standard for pods`
      }, 180)
    })
    await story.step('objects become a VM', async () => {
      await must(
        stage,
        '-n',
        NAMESPACE,
        'create',
        'secret',
        'generic',
        'proxmox',
        `--from-literal=token=${datacentre.token}`,
      )
      await applied(stage, 'objects.json', JSON.stringify(objects(datacentre)))
      await must(stage, '-n', NAMESPACE, 'wait', '--for=condition=Ready', 'machine/web', '--timeout=50s')
      const { out } = await must(stage, '-n', NAMESPACE, 'get', 'croft')
      return out.split('\n').find((line) => line.includes('machine')) ?? out
    })
    await story.step('a change is carried out', async () => {
      await changeMemory(stage, '2Gi')
      return soon(async () => {
        assert.equal(await memoryOf(stage, datacentre), '2048')
        return 'memory of the VM is 2048'
      }, 60)
    })
    await story.step('the node of the replica that works loses its power', async () => {
      const { out } = await must(
        stage,
        '-n',
        NAMESPACE,
        'get',
        'leases',
        '-o',
        'jsonpath={range .items[*]}{.spec.holderIdentity}{"\\n"}{end}',
      )
      const pods = await must(
        stage,
        ...PODS,
        '-o',
        'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\\n"}{end}',
      )
      const held = pods.out
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([name = '']) => name !== '' && out.includes(name))
      // The first server is the one whose API kubectl asks.
      const [pod, node = ''] = held.find(([, on]) => on !== 'h1') ?? []
      if (pod === undefined) return 'not tried: every working replica is on h1'
      await stage.lab.cutPower(node)
      const startedMs = Date.now()
      await changeMemory(stage, '3Gi')
      const seen = await soon(async () => {
        assert.equal(await memoryOf(stage, datacentre), '3072')
        return `${pod} on ${node}; the next change was carried out ${((Date.now() - startedMs) / 1000).toFixed(0)} s later`
      }, 120)
      await stage.lab.boot(node)
      return seen
    })
    await story.step('a deleted object takes its VM along', async () => {
      await must(stage, '-n', NAMESPACE, 'delete', 'machine', 'web', '--wait=false')
      return soon(async () => {
        const { code, out } = await stage.kubectl('-n', NAMESPACE, 'get', 'machine', 'web')
        assert.ok(code !== 0 && out.includes('NotFound'), out)
        assert.equal(await memoryOf(stage, datacentre), 'no VM')
        return 'the object is gone, and so is the VM'
      }, 120)
    })
  } finally {
    datacentre.close()
  }
}

interface Datacentre {
  readonly endpoint: string
  readonly fingerprint: string
  readonly token: string
  close(): void
}

function objects({ endpoint, fingerprint }: Datacentre) {
  const object = (kind: string, name: string, spec: object) => ({
    apiVersion: 'croft.dev/v1alpha1',
    kind,
    metadata: { name, namespace: NAMESPACE },
    spec,
  })
  const connection = { endpoint, fingerprint, token: { secretRef: { name: 'proxmox', key: 'token' } } }
  const machine = {
    host: 'fun-bedbug',
    deletionPolicy: 'Delete',
    cpu: { cores: 1 },
    memory: '1Gi',
    power: 'off',
    agent: false,
    disks: [{ size: '4Gi', storage: 'disks' }],
    networks: [{ network: 'lan' }],
  }
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      object('Proxmox', 'default', connection),
      object('Host', 'fun-bedbug', {
        connection: 'default',
        bindings: { networks: { lan: { bridge: 'vmbr0' } }, storages: { disks: 'local-zfs' } },
      }),
      object('Network', 'lan', {}),
      object('Machine', 'web', machine),
    ],
  }
}

/** A simulated Proxmox in the lab's network. It listens on loopback alone, so something carries its bytes. */
async function openDatacentre(stage: Stage): Promise<Datacentre> {
  const sim = stage.startCroft(['sim', '--port', '8006'])
  const carry = `require('net').createServer((a) => { const b = require('net').connect(8006, '127.0.0.1'); a.pipe(b).pipe(a); a.on('error', () => b.destroy()); b.on('error', () => a.destroy()) }).listen(8006, '${stage.lab.gateway}')`
  const [program = '', ...words] = stage.lab.inside(['node', '-e', carry])
  const carrier = spawn(program, words, { stdio: 'ignore' })
  const { fingerprint, token } = await firstLine(sim)
  return {
    endpoint: `https://${stage.lab.gateway}:8006`,
    fingerprint,
    token,
    close() {
      for (const child of [sim, carrier]) child.kill('SIGTERM')
    },
  }
}

function firstLine(sim: ChildProcess): Promise<{ readonly fingerprint: string; readonly token: string }> {
  return new Promise((resolve, reject) => {
    let said = ''
    sim.once('close', () => reject(new Error(`croft sim ended: ${said}`)))
    sim.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')))
    sim.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
      const [line, rest] = said.split('\n')
      if (line !== undefined && rest !== undefined) resolve(JSON.parse(line))
    })
  })
}

/** What Proxmox itself says, asked with the token and nothing of croft. */
async function memoryOf(stage: Stage, { endpoint, token }: Datacentre): Promise<string> {
  const ask = async (path: string) => {
    const words = ['curl', '-sk', '-H', `Authorization: PVEAPIToken=${token}`, `${endpoint}/api2/json${path}`]
    const { out } = await inLab(stage, words)
    return (JSON.parse(out) as { readonly data: unknown }).data
  }
  const all = (await ask('/nodes/fun-bedbug/qemu')) as readonly { readonly name: string; readonly vmid: number }[]
  const found = all.find(({ name }) => name === 'web')
  if (found === undefined) return 'no VM'
  const config = (await ask(`/nodes/fun-bedbug/qemu/${found.vmid}/config`)) as { readonly memory: unknown }
  return String(config.memory)
}

const changeMemory = (stage: Stage, memory: string) =>
  must(stage, '-n', NAMESPACE, 'patch', 'machine', 'web', '--type=merge', '-p', JSON.stringify({ spec: { memory } }))

function inLab(stage: Stage, argv: readonly string[]): Promise<Ran> {
  const startedMs = Date.now()
  const [program = '', ...words] = stage.lab.inside(argv)
  const env = { ...process.env, HOME: stage.lab.directory, KUBECONFIG: join(stage.lab.directory, 'kubeconfig') }
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, out, seconds: (Date.now() - startedMs) / 1000 }))
  })
}

async function must(stage: Stage, ...words: readonly string[]): Promise<Ran> {
  const ran = await stage.kubectl(...words)
  assert.equal(ran.code, 0, `kubectl ${words.join(' ')}: ${ran.out}`)
  return ran
}

async function applied(stage: Stage, name: string, text: string): Promise<void> {
  const file = join(stage.lab.directory, name)
  writeFileSync(file, text)
  await must(stage, 'apply', '--server-side', '-f', file)
}

/** Tries again until it is so. */
async function soon(look: () => Promise<string>, seconds: number): Promise<string> {
  for (const endMs = Date.now() + seconds * PATIENCE * 1000; ; await sleep(2_000))
    try {
      return await look()
    } catch (error) {
      if (Date.now() > endMs) throw error
    }
}
