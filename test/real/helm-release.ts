import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { kubernetesDriver } from '../../src/drivers/kubernetes/driver.ts'
import { existingWay } from '../../src/drivers/kubernetes/existing-way.ts'
import { createEngine } from '../../src/engine/create.ts'
import { createKubernetesClient } from '../../src/kubernetes/client.ts'
import { at, type Foreign, objectName, recordsOf } from '../../src/kubernetes/objects.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { releasesFor } from '../../src/main/charts.ts'
import { existingTools } from '../../src/main/existing-clusters.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { existingEstate, PROD } from '../existing-estate.ts'
import { HELM } from '../helm-here.ts'
import type { RealApi } from './kube-apiserver.ts'
import { PROGRAM } from './operator-ground.ts'

/* Charts that a real Helm installs on a real kube-apiserver, by croft's word. */

const ran = promisify(execFile)

const CHART: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: till\nversion: 1.0.0\n',
  'values.yaml': 'replicas: 1\ncpu: 1000m\ncolour: blue\ncode: "1"\nclaim: false\nword: none\n',
  'templates/till.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
        - {name: till, image: till:1, resources: {limits: {cpu: {{ .Values.cpu }}, memory: 1024Mi}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {colour: {{ .Values.colour }}}
---
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-word}
stringData: {word: {{ .Values.word }}}
{{- if .Values.claim }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: {{ .Release.Name }}-drawer}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
{{- end }}
`,
  'templates/migrate.yaml': `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: m, image: till:1}]}
`,
}

const till = (more = '', chart = '', name = 'till') => `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec:
  cluster: prod
  namespace: ${name}
  ${more}
  chart: {repo: REPO, name: till, version: 1.0.0, install: helm${chart === '' ? '' : `, ${chart}`}}
`

const byPath = (rows: readonly (readonly unknown[])[]) => rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))

/** No controller here would finish the removal of a namespace. */
const HAND = 'adopt: true\n  createNamespace: false'

export function helmReleases(api: () => RealApi): void {
  if (HELM === undefined) {
    process.stdout.write('the tests of releases by Helm were not run: there is no helm here\n')
    return
  }
  const program = HELM
  const place = mkdtempSync(join(tmpdir(), 'croft-releases-'))
  const stop = new AbortController()
  const store = createMemoryStore()
  let server: Server
  let repo = ''
  let clockAheadMs = 0

  before(async () => {
    const charts = join(place, 'charts')
    for (const [name, text] of Object.entries(CHART)) {
      mkdirSync(join(place, 'till/templates'), { recursive: true })
      writeFileSync(join(place, 'till', name), text)
    }
    await ran(program, ['package', join(place, 'till'), '--destination', charts])
    await ran(program, ['repo', 'index', charts])
    server = createServer(({ url = '' }, answer) => answer.end(readFileSync(join(charts, url.split('/').at(-1) ?? ''))))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    repo = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    // Notes how it was called and who may read what it logs in with.
    const noted = `#!/bin/sh\nprintf '%s %s\\n' "$(stat -c %a "$KUBECONFIG" 2>/dev/null)" "$*" >>${place}/calls\nexec ${program} "$@"\n`
    writeFileSync(join(place, 'noted-helm'), noted)
    chmodSync(join(place, 'noted-helm'), 0o755)
  })
  after(() => {
    server.close()
    rmSync(place, { recursive: true, force: true })
  })

  const estateOf = (addons: string) => existingEstate((PROD + addons).replaceAll('REPO', repo))
  const env = () => ({
    PATH: process.env.PATH,
    HOME: place,
    XDG_CACHE_HOME: join(place, 'cache'),
    CROFT_HELM: join(place, 'noted-helm'),
  })
  const helmByHand = (...args: readonly string[]) =>
    ran(program, args, { env: { ...env(), KUBECONFIG: api().kubeconfig } as NodeJS.ProcessEnv })

  async function engine() {
    const resolveSecret = async (reference: object) =>
      new Secret(
        'env' in reference && reference.env === 'PROD_KUBECONFIG'
          ? readFileSync(api().kubeconfig, 'utf8')
          : 'word: correct horse\n',
      )
    const ahead = () => clockAheadMs
    const clock = {
      ...systemClock,
      now: () => systemClock.now() + ahead(),
      monotonicMs: () => systemClock.monotonicMs() + ahead(),
    }
    const tools = await existingTools({ PATH: process.env.PATH }, { clock, resolveSecret })
    return createEngine({
      clock,
      random: seededRandom(1),
      store,
      drivers: [kubernetesDriver],
      retryStalled: true,
      driverDeps: {
        clock,
        random: seededRandom(2),
        openWire: () => assert.fail('nothing else is spoken to'),
        resolveSecret,
        helm: releasesFor(env()),
        kubernetes: ({ existing }) => {
          assert.ok(existing)
          return existingWay(existing, tools)
        },
      },
    })
  }

  const client = () => createKubernetesClient(api().wire)
  const got = async (path: string): Promise<Foreign | undefined> => {
    const asked = await client().get(path)
    return asked.is === 'answer' ? asked.value : undefined
  }
  const deploymentAt = (name: string) => `/apis/apps/v1/namespaces/${name}/deployments/${name}`
  const uidOf = async (path: string) => at(await got(path), 'metadata', 'uid')

  /** There are no controllers beside this API: the test plays those of Jobs and Deployments. */
  async function play(jobsEnd: boolean): Promise<void> {
    const jobs = await client().list('/apis/batch/v1/jobs')
    for (const job of jobsEnd && jobs.is === 'answer' ? jobs.value : []) {
      if (recordsOf(at(job, 'status', 'conditions')).length > 0) continue
      const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
      const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: now,
      }))
      const path = `/apis/batch/v1/namespaces/${String(at(job, 'metadata', 'namespace'))}/jobs/${objectName(job) ?? ''}`
      await client().merge(
        `${path}/status`,
        { status: { startTime: now, completionTime: now, succeeded: 1, conditions } },
        'end it',
      )
    }
    const deployments = await client().list('/apis/apps/v1/deployments')
    for (const one of deployments.is === 'answer' ? deployments.value : []) {
      const generation = at(one, 'metadata', 'generation')
      if (at(one, 'status', 'observedGeneration') === generation) continue
      const replicas = at(one, 'spec', 'replicas')
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas }
      const status = { observedGeneration: generation, ...counts, conditions: [{ type: 'Available', status: 'True' }] }
      const path = `/apis/apps/v1/namespaces/${String(at(one, 'metadata', 'namespace'))}/deployments/${objectName(one) ?? ''}`
      await client().merge(`${path}/status`, { status }, 'run it')
    }
  }

  async function settle(estate: Estate): Promise<void> {
    const made = await engine()
    try {
      for (let pass = 0; pass < 150; pass++) {
        const report = await made.pass(estate, stop.signal)
        if (report.settled) return
        await play(true)
        await sleep(100)
      }
      const { entries } = await made.plan(estate, stop.signal)
      assert.fail(JSON.stringify(entries.map(({ key, action }) => [key, action])))
    } finally {
      await made.close()
    }
  }
  const planOf = async (estate: Estate) => {
    const made = await engine()
    const { entries } = await made.plan(estate, stop.signal)
    await made.close()
    return entries.filter(({ action }) => action.do !== 'nothing')
  }
  const changesOf = async (estate: Estate) => {
    const [first] = await planOf(estate)
    assert.ok(first?.action.do === 'update', JSON.stringify(first))
    return first.action.changes.map(({ path, from, to }) => [path, from, to])
  }
  const stepsOf = async (estate: Estate) =>
    (await planOf(estate)).flatMap(({ action }) =>
      'steps' in action ? action.steps.map(({ summary }) => summary) : [],
    )
  const statusOf = async (name: string) => {
    const { stdout } = await helmByHand('status', name, '-n', name, '-o', 'json')
    const { version, info } = JSON.parse(stdout) as { version: number; info: { status: string } }
    return `${info.status} ${version}`
  }
  const calls = () => readFileSync(join(place, 'calls'), 'utf8').trimEnd().split('\n')

  test('helm: a chart is installed as a release with its hooks, and a second plan is empty', async () => {
    const estate = await estateOf(till('', 'values: {replicas: 2, code: null, cpu: 500m}, valuesFrom: {env: WORD}'))
    const first = await planOf(estate)
    assert.deepEqual(
      first.map(({ key }) => key),
      ['Addon/till@Namespace/till', 'Addon/till@Release.helm.sh/till/till'],
    )
    await settle(estate)
    assert.equal(await statusOf('till'), 'deployed 1')
    assert.deepEqual(await planOf(estate), [])
    assert.ok(await got('/apis/batch/v1/namespaces/till/jobs/till-migrate'))
    assert.equal(
      at(await got('/api/v1/namespaces/till/secrets/till-word'), 'data', 'word'),
      Buffer.from('correct horse').toString('base64'),
    )
    const upgrades = calls().filter((line) => line.includes(' upgrade '))
    assert.equal(upgrades.length, 1)
    assert.match(upgrades[0] ?? '', /^600 upgrade till .*--install --namespace till --reset-values/)
    assert.doesNotMatch(calls().join(), /correct horse|BEGIN|certificate/)
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`croft-helm-${process.pid}-`)),
      [],
    )
  })

  test('helm: what a hand changes or deletes of a release is seen field by field and put back by a new revision', async () => {
    const estate = await estateOf(till('', 'values: {replicas: 2, code: null, cpu: 500m}, valuesFrom: {env: WORD}'))
    await client().merge(deploymentAt('till'), { spec: { replicas: 5 } }, 'scale it by hand')
    await client().delete('/api/v1/namespaces/till/configmaps/till', 'delete it by hand')
    assert.deepEqual(byPath(await changesOf(estate)), [
      ['ConfigMap/till/till', 'missing', 'there'],
      ['Deployment.apps/till/till spec.replicas', 5, 2],
    ])
    await settle(estate)
    assert.equal(at(await got(deploymentAt('till')), 'spec', 'replicas'), 2)
    assert.ok(await got('/api/v1/namespaces/till/configmaps/till'))
    assert.equal(await statusOf('till'), 'deployed 2')
    assert.deepEqual(await planOf(estate), [])
  })

  test('helm: a changed value is shown by its path, and one that is taken out is shown to nobody', async () => {
    const next = await estateOf(till('', 'values: {replicas: 2, colour: green}'))
    const planned = (await changesOf(next)).filter(([path]) => String(path).startsWith('spec.values'))
    assert.deepEqual(byPath(planned), [
      ['spec.values.code', '***', undefined],
      ['spec.values.colour', undefined, 'green'],
      ['spec.values.cpu', '***', undefined],
      ['spec.values.word', '***', undefined],
    ])
    await settle(next)
    assert.equal(at(await got('/api/v1/namespaces/till/configmaps/till'), 'data', 'colour'), 'green')
    assert.deepEqual(await planOf(next), [])
    await settle(await estateOf(till()))
    assert.deepEqual(await planOf(await estateOf(till())), [], 'no values at all are no values, not those of before')
    assert.equal(at(await got('/api/v1/namespaces/till/configmaps/till'), 'data', 'colour'), 'blue')
  })

  test('helm: a release that a killed Helm left pending is waited for, then only its record goes and the upgrade runs', async () => {
    const before = [await uidOf(deploymentAt('till')), await statusOf('till')]
    const byHand = spawn(
      program,
      ['upgrade', 'till', join(place, 'charts/till-1.0.0.tgz'), '-n', 'till', '--set', 'replicas=3'],
      {
        env: { ...env(), KUBECONFIG: api().kubeconfig } as NodeJS.ProcessEnv,
        stdio: 'ignore',
      },
    )
    for (let tries = 0; tries < 100 && !(await statusOf('till')).startsWith('pending'); tries++) await sleep(50)
    byHand.kill('SIGKILL')
    assert.match(await statusOf('till'), /^pending-upgrade /)
    const estate = await estateOf(till('', 'values: {replicas: 4}'))
    assert.deepEqual(await stepsOf(estate), [], 'another Helm may be at work')
    clockAheadMs = 3_600_000
    const [forget = '', upgrade = '', ...more] = await stepsOf(estate)
    assert.match(forget, /^delete the record of revision \d+ of till, which hangs in pending-upgrade$/)
    assert.match(upgrade, /^helm upgrade --install till/)
    assert.deepEqual(more, [])
    await settle(estate)
    assert.match(await statusOf('till'), /^deployed /)
    assert.equal(await uidOf(deploymentAt('till')), before[0])
    assert.equal(at(await got(deploymentAt('till')), 'spec', 'replicas'), 4)
    assert.deepEqual(await planOf(estate), [])
    clockAheadMs = 0
  })

  test('helm: a release that somebody installed by hand is taken over without a new revision', async () => {
    const byHand = helmByHand(
      'install',
      'hand',
      join(place, 'charts/till-1.0.0.tgz'),
      '-n',
      'hand',
      '--create-namespace',
      '--set',
      'replicas=2',
    )
    for (let done = false; !done; await sleep(100)) {
      await play(true)
      done = (await Promise.race([byHand, sleep(10)])) !== undefined
    }
    const others = till('', 'values: {replicas: 4}')
    const plain = await estateOf(others + till('createNamespace: false', 'values: {replicas: 2}', 'hand'))
    const [refused] = (await planOf(plain)).filter(({ key }) => key.includes('Release'))
    assert.match(JSON.stringify(refused?.action), /the Helm release hand\/hand is there already \(revision 1\)/)
    const adopted = await estateOf(others + till(HAND, 'values: {replicas: 2}', 'hand'))
    assert.deepEqual(
      (await stepsOf(adopted)).filter((one) => one.includes('release')),
      ['mark the release hand/hand as ours'],
    )
    await settle(adopted)
    assert.equal(await statusOf('hand'), 'deployed 1')
    assert.deepEqual(await planOf(adopted), [])
  })

  test('helm: what leaves Git is uninstalled, what holds data only by a person’s word, and nothing with prune: none', async () => {
    const others = till('', 'values: {replicas: 4}')
    await settle(await estateOf(others + till(HAND, 'values: {replicas: 2, claim: true}', 'hand')))
    assert.match(await statusOf('hand'), /^deployed 2/)
    const [refused] = (await planOf(await estateOf(others))).filter(({ key }) => key.includes('Release'))
    assert.match(
      JSON.stringify(refused?.action),
      /would go what holds data of others: PersistentVolumeClaim\/hand\/hand-drawer/,
    )
    await settle(await estateOf(others + till(`${HAND}\n  prune: all`, 'values: {replicas: 2, claim: true}', 'hand')))
    assert.match(await statusOf('hand'), /^deployed 2/, 'only its labels changed')
    await settle(await estateOf(others))
    assert.equal(await got(deploymentAt('hand')), undefined)
    await assert.rejects(statusOf('hand'))
  })

  test('helm: a chart changes between apply and helm only where nothing would be deleted on the way', async () => {
    const others = till('', 'values: {replicas: 4}')
    const asApplied = (more: string) => till(more, '', 'swap').replace(', install: helm', '')
    const objects = [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'swap', namespace: 'swap' },
        data: { colour: 'blue' },
      },
    ]
    const rendered = (addons: string) => existingEstate((PROD + addons).replaceAll('REPO', repo), objects)
    await settle(await rendered(others + asApplied('')))
    const uid = await uidOf('/api/v1/namespaces/swap/configmaps/swap')
    const refusals = (await planOf(await estateOf(others + till('adopt: true', '', 'swap')))).map(({ key, action }) => [
      key,
      action.do,
    ])
    assert.deepEqual(byPath(refusals), [
      ['Addon/swap@ConfigMap/swap/swap', 'refuse'],
      ['Addon/swap@Release.helm.sh/swap/swap', 'refuse'],
    ])
    await settle(await rendered(others + asApplied('prune: none')))
    await settle(await estateOf(others + till('adopt: true', '', 'swap')))
    assert.equal(await uidOf('/api/v1/namespaces/swap/configmaps/swap'), uid)
    assert.match(await statusOf('swap'), /^deployed 1/)
    assert.deepEqual(await planOf(await estateOf(others + till('adopt: true', '', 'swap'))), [])
    const back = (await planOf(await rendered(others + asApplied('')))).find(({ key }) => key.includes('Release'))
    assert.match(JSON.stringify(back?.action), /install-changed.*kubectl delete secret -n swap -l owner=helm,name=swap/)
  })

  test('helm: croft apply waits for Helm to end, and croft plan is empty after it', async () => {
    const directory = join(place, 'by-program')
    mkdirSync(directory)
    const addon = till('createNamespace: false', '', 'byprogram').replace('namespace: byprogram', 'namespace: default')
    const cluster = PROD.replace('{env: PROD_KUBECONFIG}', `{file: ${api().kubeconfig}}`)
    writeFileSync(join(directory, 'estate.yaml'), (cluster + addon).replaceAll('REPO', repo))
    const croft = async (...words: readonly string[]) => {
      const child = spawn(process.execPath, [...PROGRAM, ...words, directory], { env: env() as NodeJS.ProcessEnv })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)))
      let code: number | null | undefined
      child.once('close', (ended) => (code = ended))
      while (code === undefined) {
        await play(true)
        await sleep(200)
      }
      return { code, said }
    }
    const applied = await croft('apply', '--yes')
    assert.equal(applied.code, 0, applied.said)
    const { stdout } = await helmByHand('status', 'byprogram', '-n', 'default')
    assert.match(stdout, /STATUS: deployed/)
    const planned = await croft('plan')
    assert.equal(planned.code, 0, planned.said)
  })
}
