import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { REAL_PACKAGES, TEST_PACKAGES } from '../../scripts/packages.ts'
import { enterTestSystem } from '../../scripts/test-system.ts'
import { at } from '../../src/kubernetes/objects.ts'
import { Secret } from '../../src/model/secret.ts'
import { openKubernetesVault } from '../../src/vault/kubernetes-vault.ts'
import { ofOthers, WITHOUT_EVIDENCE } from '../evidence/of-others.ts'
import { missingForApi } from './kube-apiserver.ts'
import {
  createOperatorGround,
  exited,
  type OperatorGround,
  PROGRAM,
  type RunningReplica,
  until,
} from './operator-ground.ts'

/* `croft move-in` and `croft move-out` as processes, on a real kube-apiserver, beside a replica that runs all the time, and with
   the simulated Proxmox below. */

const UID = '3f2a9c0d1b2e4f60'
const HOME = 'croft-system'

enterTestSystem([...TEST_PACKAGES, ...REAL_PACKAGES], { make: true })
const missing = missingForApi()
const ci = !['', '0', 'false'].includes(process.env.CI ?? '')
if (WITHOUT_EVIDENCE !== false)
  process.stdout.write(
    `the tests of croft move-in are not run: they read other people's definitions, and CROFT_EVIDENCE is not set\n`,
  )
else if (missing === undefined) run()
else {
  process.stdout.write(`the tests of croft move-in ${ci ? 'could not be run' : 'are skipped'}: ${missing}\n`)
  if (ci) process.exitCode = 1
}

interface Ran {
  readonly code: number | null
  readonly text: string
}

function run(): void {
  let ground: OperatorGround
  let replica: RunningReplica
  let estate: string

  /** Runs croft; with `killAfter`, only until it has started that many steps. */
  const croft = async (words: readonly string[], killAfter = Number.POSITIVE_INFINITY): Promise<Ran> => {
    const env = {
      ...process.env,
      HOME: ground.folder,
      XDG_STATE_HOME: '',
      CROFT_STATE: join(ground.folder, 'croft.db'),
      PROXMOX_TOKEN: ground.token,
    }
    const child = spawn(process.execPath, [...PROGRAM, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    let steps = 0
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      text += more
      steps += more.split('\n').length - 1
      if (steps >= killAfter) child.kill('SIGKILL')
    })
    await exited(child)
    return { code: child.exitCode, text }
  }
  const move = (way: 'in' | 'out', killAfter?: number) =>
    croft([`move-${way}`, estate, '--kubeconfig', ground.api.kubeconfig, '--namespace', HOME], killAfter)
  const apply = () => croft(['apply', estate, '--yes', '--progress', 'plain'])
  const comment = (text: string) =>
    ground.kubectl('patch', 'proxmoxpool', 'web', '-n', HOME, '--type=merge', '-p', `{"spec":{"comment":"${text}"}}`)
  const gate = async () => {
    const lease = await ground.get(`/apis/coordination.k8s.io/v1/namespaces/${HOME}/leases/croft-move`)
    return at(lease, 'metadata', 'annotations', 'croft.dev/move')
  }
  /** Shards that the replica works on, by what it has said. */
  const works = () => {
    const lines = replica.output().split('\n')
    const begun = lines.filter((line) => line.startsWith('one works on')).length
    return begun - lines.filter((line) => line.startsWith('one no longer works on')).length
  }
  const written = async (from: number) =>
    (await ground.writes()).slice(from).map(({ method, path }) => `${method} ${path.replace(/.*(?=\/pools)/, '')}`)

  before(async () => {
    ground = await createOperatorGround(ofOthers('crossplane-crds'))
    const definitions = join(ground.folder, 'definitions.yaml')
    writeFileSync(definitions, (await croft(['schema', '--crds'])).text)
    ground.kubectl('apply', '--server-side', '-f', definitions)
    estate = join(ground.folder, 'estate')
    mkdirSync(estate)
    const head = 'apiVersion: croft.dev/v1alpha1'
    const files = (token: string) => `${head}
kind: Estate
metadata: {name: home}
spec: {uid: ${UID}}
---
${head}
kind: Proxmox
metadata: {name: home}
spec:
  endpoint: ${ground.endpoint}
  fingerprint: "${ground.fingerprint}"
  token: ${token}
---
${head}
kind: ProxmoxPool
metadata: {name: web}
spec: {connection: home, comment: by files}
---
${head}
kind: ProxmoxPool
metadata: {name: data}
spec: {connection: home, comment: by files}
`
    writeFileSync(join(estate, 'estate.yaml'), files('{env: PROXMOX_TOKEN}'))
    writeFileSync(join(ground.folder, 'objects.yaml'), files('{secretRef: {name: proxmox-token, key: token}}'))
  })
  after(() => ground?.stop())

  test('a move waits for the objects; meanwhile files count, and a replica that sees the objects does nothing', async () => {
    const made = await apply()
    assert.equal(made.code, 0, made.text)
    assert.deepEqual(await written(0), ['POST /pools', 'POST /pools'])
    const early = await move('in')
    assert.equal(early.code, 1, early.text)
    assert.match(early.text, /has no Estate; apply the one of this directory there/)
    assert.match(
      early.text,
      /croft\.db still counts\. Run croft move-in again to go on, or croft move-out to turn back/,
    )
    replica = ground.operator('one')
    ground.kubectl('apply', '-n', HOME, '-f', join(ground.folder, 'objects.yaml'))
    await until('it has seen the gate', () => replica.output().includes('nothing is done'), replica)
    const again = await apply()
    assert.equal(again.code, 0, again.text)
    assert.equal(works(), 0)
    assert.equal((await ground.writes()).length, 2)
  })

  test('the operator takes over without a write, files are refused, and a change of an object is done', async () => {
    const moved = await move('in')
    assert.equal(moved.code, 0, moved.text)
    ground.kubectl('wait', '--for=condition=Ready', 'proxmoxpool', '--all', '-n', HOME, '--timeout=200s')
    assert.equal((await ground.writes()).length, 2)
    const refused = await apply()
    assert.equal(refused.code, 1)
    assert.match(refused.text, /croft operator in the namespace croft-system of a cluster keeps this estate/)
    comment('by kubectl')
    await until('it is written', async () => (await ground.writes()).length === 3, replica)
  })

  test('and back: objects have no say any more, and files do', async () => {
    const moved = await move('out')
    assert.equal(moved.code, 0, moved.text)
    await until('it lets go', () => works() === 0, replica)
    comment('nobody listens')
    const applied = await apply()
    assert.equal(applied.code, 0, applied.text)
    assert.match((await written(3)).join(), /^PUT \/pools[^,]*$/, 'files say by files')
  })

  test('[F-01] a mover that is killed in any step leaves one owner or none, and the next one ends it', async () => {
    // So that neither has anything to do.
    comment('by files')
    for (const way of ['in', 'out'] as const) {
      const steps = way === 'in' ? 7 : 5
      for (let step = 1; step <= steps; step++) {
        const before = await ground.writes()
        await move(way, step)
        // Enough for a replica that may to begin.
        await new Promise((over) => setTimeout(over, 3_500))
        const files = await apply()
        const mine = works()
        assert.ok(files.code !== 0 || mine === 0, `${way} ${step}: two owners (${String(await gate())})\n${files.text}`)
        assert.equal((await ground.writes()).length, before.length, `${way} ${step}: ${files.text}`)
        const back = await move(way === 'in' ? 'out' : 'in')
        assert.equal(back.code, 0, back.text)
        if (way === 'in') await until('it lets go', () => works() === 0, replica)
      }
      const through = await move(way)
      assert.equal(through.code, 0, through.text)
      if (way === 'in') await until('it works', () => works() > 0, replica)
    }
    assert.equal(await replica.end(), 0, replica.output())
  })

  test('what makes a cluster itself is kept in a Secret, and two who write it do not overwrite each other', async () => {
    const secrets = {
      cluster: 'homelab',
      caHash: 'a'.repeat(64),
      firstServer: 's1',
      formed: false,
      recordedMs: 1,
      files: new Map([['server-ca.key', new Secret('the key')]]),
      password: new Secret('the password'),
      formerPasswords: [],
    }
    const [one, other] = [1, 2].map(() => openKubernetesVault({ client: ground.client, namespace: HOME }))
    assert.ok(one && other)
    assert.equal(await one.read('homelab'), undefined)
    await one.write(secrets)
    assert.equal((await other.read('homelab'))?.password.reveal(), 'the password')
    assert.equal((await one.read('homelab'))?.formed, false)
    await one.write({ ...secrets, formed: true })
    await assert.rejects(other.write(secrets))
    assert.equal((await other.read('homelab'))?.formed, true)
  })
}
