import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HelmRun } from '../drivers/release-port.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../model/secret.ts'
import { explained, kubeconfigFor, processOf, upgradeArguments } from './release-arguments.ts'
import { createReleases } from './releases.ts'

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-releases-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const UPGRADE = {
  do: 'helm',
  run: 'upgrade',
  release: 'shop',
  namespace: 'web',
  chart: { repo: 'https://charts.example.org', chart: 'shop', version: '1.0.0' },
  values: '{"replicas":2}',
  labels: { 'croft.dev/release': 'u', 'croft.dev/release-of': 'shop' },
} as const
const RUN: HelmRun = {
  cluster: 'prod',
  write: UPGRADE,
  secretValues: new Secret('word: correct horse'),
  login: { endpoint: 'https://api.example.org', caPem: 'CA', token: new Secret('hunter2') },
}

test('what is said to Helm names files and no secret, and sets the values anew', () => {
  assert.deepEqual(upgradeArguments(UPGRADE, '/c.tgz', ['/v0', '/v1']), [
    'upgrade',
    'shop',
    '/c.tgz',
    '--install',
    '--namespace',
    'web',
    '--reset-values',
    '--values',
    '/v0',
    '--values',
    '/v1',
    '--labels',
    'croft.dev/release=u,croft.dev/release-of=shop',
  ])
  assert.ok(upgradeArguments({ ...UPGRADE, takeOwnership: true }, '/c', []).includes('--take-ownership'))
})

test('a kubeconfig has the one way that was found', () => {
  const config = JSON.parse(kubeconfigFor({ ...RUN.login, proxy: 'http://p:1' })) as Record<string, never[]>
  assert.deepEqual(config.clusters, [
    {
      name: 'croft',
      cluster: { server: 'https://api.example.org', 'certificate-authority-data': 'Q0E=', 'proxy-url': 'http://p:1' },
    },
  ])
  assert.deepEqual(config.users, [{ name: 'croft', user: { token: 'hunter2' } }])
})

test('what an old Helm does not know, and what is in its way, is said with what to do', () => {
  assert.match(explained('unknown flag: --labels'), /needs Helm 3\.13/)
  assert.match(explained('x cannot be imported into the current release: y'), /Set adopt: true/)
  assert.equal(explained('timed out'), 'timed out')
  assert.deepEqual([processOf('croft-helm-12-abc'), processOf('croft-helm-abc')], [12, undefined])
})

/** Makes a Helm that records its arguments and input, then acts as the test wants. */
function fakeHelm(name: string, then: string): string {
  const folder = path.join(scratch, name)
  mkdirSync(folder)
  const program = path.join(folder, 'fake')
  const text = `#!/bin/sh
printf '%s\\n' "$*" >>${folder}/calls
env >>${folder}/env
[ "$1" = pull ] && { echo chart >"$8/shop.tgz"; exit 0; }
stat -c '%a %n' "$KUBECONFIG" "$HOME"/values-* | sed "s|$HOME|HOME|" >>${folder}/files
cat "$HOME"/values-1.yaml >>${folder}/values
${then}
`
  writeFileSync(program, text)
  chmodSync(program, 0o755)
  return folder
}

async function ended(folder: string) {
  const releases = createReleases({
    env: { CROFT_HELM: path.join(folder, 'fake') },
    clock: systemClock,
    read: async () => ({ objects: [] }),
  })
  const id = (await releases.begin(RUN)) ?? ''
  assert.deepEqual(releases.tasks('other'), [])
  for (let tries = 0; tries < 500 && releases.tasks('prod').length > 0; tries++) await sleep(20)
  return releases.outcome(id)
}

test('a run is a task; its kubeconfig and values are files of one person that are gone afterwards', async () => {
  const folder = fakeHelm('well', 'exit 0')
  const task = await ended(folder)
  assert.deepEqual([task?.state, task?.host, task?.subject], ['succeeded', 'prod', 'Release.helm.sh/web/shop'])
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')
  assert.deepEqual(read('files').trim().split('\n').sort(), [
    '600 HOME/kubeconfig',
    '600 HOME/values-0.yaml',
    '600 HOME/values-1.yaml',
  ])
  assert.equal(read('values'), 'word: correct horse')
  assert.doesNotMatch(read('calls') + read('env'), /hunter2|correct horse/)
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => processOf(name) === process.pid),
    [],
  )
})

test('a run that fails says what Helm said, and is tried again later', async () => {
  const task = await ended(fakeHelm('ill', 'echo "Error: UPGRADE FAILED: no" >&2; exit 1'))
  assert.equal(task?.state, 'failed')
  assert.equal(task?.refusal?.meaning, 'backoff')
  assert.match(task?.message ?? '', /could not upgrade the release shop: helm upgrade: UPGRADE FAILED: no/)
})

test('what a killed croft left is removed by the next run', async () => {
  const { pid } = spawnSync('true')
  const left = path.join(tmpdir(), `croft-helm-${pid}-left`)
  mkdirSync(left)
  await ended(fakeHelm('after', 'exit 0'))
  assert.equal(existsSync(left), false)
})

test('without Helm no run begins', async () => {
  const releases = createReleases({ env: { PATH: scratch }, clock: systemClock, read: async () => ({ objects: [] }) })
  assert.equal(await releases.begin(RUN), undefined)
})
