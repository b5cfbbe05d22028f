import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { armor, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption'
import { gitServerMissing, startGitServer } from '../../src/controller/testing/git-server.ts'
import { sopsYaml } from '../../src/source/testing/sops-writer.ts'
import { clusterManifests } from '../browser/cluster-manifests.ts'
import { endAll, estateAt, type Running, type Simulator, scratch, signal, start, startSimulator } from './children.ts'
import { passwordFrom, webVm } from './web-vm.ts'

after(endAll)

const UNEXPECTED = /This was not expected|\n {4}at /

/** Everything that a process wrote, as soon as this is in it or it has ended. */
async function saidUntil({ child }: Running, wanted: RegExp): Promise<string> {
  let said = ''
  let over = false
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text: string) => {
      said += text
    })
  child.once('close', () => {
    over = true
  })
  while (!over && !wanted.test(said)) await sleep(50)
  return said
}

/** What, where, why and how to go on: each must be in the answer. */
function says(answer: string, parts: readonly RegExp[]): void {
  for (const part of parts) assert.match(answer, part)
  assert.doesNotMatch(answer, UNEXPECTED, 'an ordinary mistake gets an ordinary sentence')
}

describe('mistakes after the first plan', () => {
  let simulator: Simulator
  before(async () => {
    simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], scratch())
  })

  function place(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
    const cwd = scratch()
    estateAt(path.join(cwd, 'estate'), simulator, files)
    const all = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, ...env }
    const begin = (...words: string[]) => start(words, { cwd, env: all })
    const croft = async (...words: string[]) => {
      const { code, stdout, stderr } = await begin(...words).ended
      return { code, answer: `${stdout}${stderr}` }
    }
    return { cwd, begin, croft }
  }

  test('the checksum of an image is not that of the file behind its URL', async () => {
    const image = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: still-fawn}
spec: {bindings: {storages: {files: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: other}
spec:
  url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
  fileName: other.qcow2
  storage: files
  hosts: [still-fawn]
  checksum: sha256:${'a'.repeat(64)}
`
    const { croft } = place({ 'image.yaml': image })
    const { code, answer } = await croft('apply', 'estate', '--yes', '--timeout', '60s')
    assert.equal(code, 1, answer)
    says(answer, [
      /Image\/other@still-fawn/,
      /ChecksumMismatch/,
      /got '[0-9a-f]{64}' != expect 'a{64}'/,
      /look up the checksum that its publisher lists/,
      /correct checksum or url/,
    ])
  })

  test('a second croft while the first is at work on the same database', async () => {
    const { begin, croft } = place({ 'vm.yaml': webVm() })
    const first = begin('run', 'estate', '--listen', 'off')
    await saidUntil(first, /web-1/)
    const applied = await croft('apply', 'estate', '--yes')
    assert.equal(applied.code, 1, applied.answer)
    says(applied.answer, [
      new RegExp(`Another croft \\(process ${first.child.pid} on \\S+\\) is at work on \\S+\\.db`),
      /only one croft may change things at a time/,
      /wait for it to end, or stop it, and run this again/,
    ])
    const second = await croft('run', 'estate', '--listen', 'off')
    assert.equal(second.code, 1, second.answer)
    says(second.answer, [
      new RegExp(`Another croft \\(process ${first.child.pid} on \\S+\\) is at work on \\S+\\.db`),
      /Stop it, name another database with --state, or use --wait/,
    ])
    signal(first, 'SIGTERM')
    await first.ended
  })

  test('the age key of an encrypted file is missing, or is another one', async () => {
    const recipient = await identityToRecipient(await generateIdentity())
    const users = await sopsYaml(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'users' }, stringData: { ubuntu: 'canary' } },
      { recipients: [recipient], encryptedRegex: '^(data|stringData)$' },
    )
    const vm = webVm({ fields: [passwordFrom('users')] })
      .replaceAll('web-1', 'web-2')
      .replace('205', '206')
    for (const [key, why] of [
      ['', /no age key is known/],
      [await generateIdentity(), new RegExp(`none of our age keys opens it; it is encrypted to ${recipient}`)],
    ] as const) {
      const { croft } = place({ 'vm.yaml': vm, 'users.yaml': users }, { SOPS_AGE_KEY: key })
      const how = /set SOPS_AGE_KEY_FILE, or age in the configuration/
      const planned = await croft('plan', 'estate')
      says(planned.answer, [/EnvironmentVM\/web-2 .*vm\.yaml:1/, /users\.yaml/, why, how, /0 to add/, /1 refused/])
      const { code, answer } = await croft('apply', 'estate', '--yes', '--timeout', '60s')
      assert.equal(code, 1, answer)
      says(answer, [/EnvironmentVM\/web-2/, /users\.yaml/, why, how])
      assert.doesNotMatch(answer, /1 added/)
      for (const said of [answer, planned.answer]) if (key !== '') assert.ok(!said.includes(key), 'the key is shown')
    }
  })

  test('a saved plan whose directory was moved, and one of a directory that changed', async () => {
    const vm = webVm().replaceAll('web-1', 'web-3').replace('205', '207')
    const { cwd, croft } = place({ 'vm.yaml': vm })
    const saved = await croft('plan', 'estate', '--out', 'first.plan')
    assert.equal(saved.code, 2, saved.answer)
    const estate = path.join(cwd, 'estate')
    renameSync(estate, path.join(cwd, 'infra'))
    const moved = await croft('apply', 'first.plan')
    assert.equal(moved.code, 64, moved.answer)
    says(moved.answer, [
      /first\.plan is a plan of \S+estate, which is not there/,
      /croft plan DIRECTORY --out first\.plan/,
    ])
    renameSync(path.join(cwd, 'infra'), estate)
    writeFileSync(path.join(estate, 'vm.yaml'), vm.replace('started: true', 'started: false'))
    const changed = await croft('apply', 'first.plan')
    assert.equal(changed.code, 1, changed.answer)
    says(changed.answer, [/Something changed since this plan was saved/, /Nothing was done/, /croft plan --out/])
  })

  test('a Git source that cannot be read', { skip: gitServerMissing() ?? false }, async () => {
    const { cwd } = place({})
    const srv = path.join(cwd, 'srv')
    mkdirSync(srv)
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', path.join(srv, 'home.git')])
    const server = await startGitServer(srv, 'right-token')
    const url = server.url('home.git')
    const token = { env: 'GIT_TOKEN' }
    const right = { url, ca: server.ca, token }
    const cases: readonly (readonly [string, object, string, readonly RegExp[], Readonly<Record<string, string>>?])[] =
      [
        [
          'token',
          right,
          'wrong-token',
          [/Authentication failed for '\S+home\.git/, /put it where token of this source/],
        ],
        [
          'gone',
          { ...right, url: server.url('none.git') },
          'right-token',
          [/none\.git\S* not found/, /correct url of this/],
        ],
        [
          'empty',
          right,
          'right-token',
          [/there is no branch, tag or commit main/, /push it, or correct branch or tag/],
        ],
        ['authority', { url, token }, 'right-token', [/certificate/, /set ca of this source/]],
        [
          'proxy',
          { url: 'https://git.invalid/home.git' },
          '',
          [/Could not resolve proxy: proxy\.invalid/, /correct HTTPS_PROXY, or name the server in NO_PROXY/],
          { HTTPS_PROXY: 'http://proxy.invalid:3128' },
        ],
        ['port', { url: 'https://127.0.0.1:9/home.git' }, '', [/127\.0\.0\.1:9/, /nothing answers there: correct url/]],
      ]
    try {
      for (const [name, source, GIT_TOKEN, parts, more = {}] of cases) {
        const config = {
          listen: 'off',
          state: path.join(cwd, `${name}.db`),
          sources: [{ name, poll: '1h', ...source }],
        }
        writeFileSync(path.join(cwd, `${name}.yaml`), JSON.stringify(config))
        const env = { HOME: path.join(cwd, 'home'), GIT_TOKEN, ...more }
        const running = start(['run', '--config', `${name}.yaml`], { cwd, env })
        const answer = await saidUntil(running, /SourceTrouble.*\n/)
        signal(running, 'SIGTERM')
        await running.ended
        says(answer, [new RegExp(`SourceTrouble: ${name}: git`), ...parts])
        assert.ok(GIT_TOKEN === '' || !answer.includes(GIT_TOKEN), 'the token is shown')
      }
    } finally {
      await server.close()
    }
  })
  test('a repository that changes under a running controller: a forced push, a renamed branch, no server', {
    skip: gitServerMissing() ?? false,
  }, async () => {
    const { cwd } = place({})
    const [srv, work] = [path.join(cwd, 'srv'), path.join(cwd, 'estate')]
    const bare = path.join(srv, 'home.git')
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', work, '-c', 'user.name=n', '-c', 'user.email=n@example.org', ...words])
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-qm', 'First')
    writeFileSync(path.join(work, 'vm.yaml'), webVm().replace('205', '215').replaceAll('web-1', 'web-5'))
    git('add', '.')
    git('commit', '-qm', 'Second')
    execFileSync('git', ['clone', '-q', '--bare', work, bare])
    const server = await startGitServer(srv, 'right-token')
    const source = { name: 'home', url: server.url('home.git'), ca: server.ca, token: { env: 'GIT_TOKEN' }, poll: '1s' }
    writeFileSync(path.join(cwd, 'croft.yaml'), JSON.stringify({ listen: 'off', state: 'a.db', sources: [source] }))
    const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, GIT_TOKEN: 'right-token' }
    const running = start(['run', '--config', 'croft.yaml'], { cwd, env })
    await saidUntil(running, /web-5 Ready/)
    execFileSync('git', ['-C', bare, 'update-ref', 'refs/heads/main', 'main~1'])
    // Without signers a push that takes history back is a push like any other.
    await saidUntil(running, /Revision: home: First/)
    execFileSync('git', ['-C', bare, 'branch', '-m', 'main', 'trunk'])
    const renamed = await saidUntil(running, /SourceTrouble.*\n/)
    execFileSync('git', ['-C', bare, 'branch', '-m', 'trunk', 'main'])
    await server.close()
    const gone = await saidUntil(running, /SourceTrouble.*\n/)
    signal(running, 'SIGTERM')
    await running.ended
    says(renamed, [
      /SourceTrouble: home: git .*there is no branch, tag or commit main/,
      /correct branch or tag/,
      /stays in force/,
    ])
    says(gone, [
      /SourceTrouble: home: git .*localhost/,
      /nothing answers there: correct url/,
      /asks again/,
      /stays in force/,
    ])
  })
})

test('two of three servers are off: plan and health say that the majority is lost and what to start', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'hosts', '--speed', '60', '--proxy'], cwd)
  const { hosts, guests } = await simulator.door<{
    readonly hosts: readonly { readonly name: string }[]
    readonly guests: readonly { readonly vmid: number }[]
  }>('GET', 'state')
  estateAt(path.join(cwd, 'estate'), simulator, clusterManifests(hosts.map(({ name }) => name)))
  const { proxy } = simulator as unknown as { readonly proxy: string }
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, HTTPS_PROXY: proxy }
  const croft = async (...words: string[]) => {
    const { code, stdout, stderr } = await start([...words, 'estate'], { cwd, env }).ended
    return { code, answer: `${stdout}${stderr}` }
  }
  const applied = await croft('apply', '--yes', '--timeout', '600s')
  assert.equal(applied.code, 0, applied.answer)
  const before = new Set(guests.map(({ vmid }) => vmid))
  const state = await simulator.door<{
    readonly guests: readonly { readonly vmid: number; readonly config: Readonly<Record<string, string>> }[]
  }>('GET', 'state')
  for (const { vmid, config } of state.guests)
    if (!before.has(vmid) && /^edge-[23]$/.test(config.name ?? ''))
      await simulator.door('PATCH', `guests/${vmid}`, { status: 'stopped' })
  const lost = /2 of 3 servers are off \(edge-2, edge-3\) and etcd needs 2 that run/
  const planned = await croft('plan')
  assert.equal(planned.code, 2, planned.answer)
  says(planned.answer, [/Cluster\/edge/, lost, /start VM \d+ on/])
  const health = await croft('health')
  assert.equal(health.code, 1, health.answer)
  says(health.answer, [
    /Cluster\/edge/,
    lost,
    /→ start edge-2, edge-3; if their disks are lost, run croft cluster restore/,
    /Machine\/edge-2[\s\S]*croft apply \S+ does it/,
  ])
})

test('the sealed record of a cluster and another age key: the plan names the variable to set', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'hosts', '--speed', '50'], cwd)
  const { hosts } = await simulator.door<{ readonly hosts: readonly { readonly name: string }[] }>('GET', 'state')
  const estate = path.join(cwd, 'estate')
  estateAt(estate, simulator, clusterManifests(hosts.map(({ name }) => name)))
  const encrypter = new Encrypter()
  encrypter.addRecipient(await identityToRecipient(await generateIdentity()))
  mkdirSync(path.join(estate, 'escrow'))
  writeFileSync(path.join(estate, 'escrow/edge.cluster.age'), armor.encode(await encrypter.encrypt('sealed')))
  for (const [env, why] of [
    [{ SOPS_AGE_KEY: await generateIdentity() }, /the key of SOPS_AGE_KEY does not open it/],
    [{ SOPS_AGE_KEY_FILE: 'nowhere.key' }, /SOPS_AGE_KEY_FILE names nowhere\.key, which cannot be read \(ENOENT\)/],
  ] as const) {
    const usual = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
    const { stdout, stderr } = await start(['plan', 'estate'], { cwd, env: { ...usual, ...env } }).ended
    says(stdout + stderr, [
      /Cluster\/edge/,
      why,
      /to allow: set SOPS_AGE_KEY_FILE to the file with the (age )?key that (it|this record) was sealed for/,
    ])
    const health = await start(['health', 'estate'], { cwd, env: { ...usual, ...env } }).ended
    assert.doesNotMatch(health.stdout, /connection cluster\/edge: ok/, 'nothing was read from it')
  }
})
