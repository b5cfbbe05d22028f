import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endAll, estateAt, scratch, signal, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const vm = (memory: number) => webVm({ memory })

interface State {
  readonly guests: readonly { readonly vmid: number }[]
  readonly hosts: readonly { readonly volumes: Readonly<Record<string, readonly { readonly vmid?: number }[]>> }[]
}

async function set(manifests: Readonly<Record<string, string>>) {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const estate = path.join(cwd, 'estate')
  estateAt(estate, simulator, manifests)
  const env = {
    HOME: path.join(cwd, 'home'),
    PROXMOX_TOKEN: simulator.token,
    CROFT_STATE: path.join(cwd, 'data/croft.db'),
  }
  mkdirSync(path.join(cwd, 'data'))
  const croft = (...words: string[]) => start(words, { cwd, env })
  return { cwd, simulator, estate, env, croft, ended: (...words: string[]) => croft(...words).ended }
}

test('[F-26] killed in the middle of its work, taken down by one schema and up again: one machine, nothing left over', async () => {
  const { simulator, croft, ended } = await set({ 'vm.yaml': vm(2048) })
  await simulator.door('POST', 'faults', { kind: 'delay', match: '^(POST|PUT) ', skip: 1, count: 1, delayMs: 60_000 })
  const first = croft('apply', '--yes', 'estate')
  for (let tries = 0; (await simulator.stats()).writes < 2 && tries < 6_000; tries++) await sleep(25)
  signal(first, 'SIGKILL')
  await first.exited
  const down = await ended('downgrade', 'estate')
  assert.equal(down.code, 0, down.stderr)
  assert.match(down.stdout, /has schema \d+ now/)
  const again = await ended('apply', '--yes', '--timeout', '240s', 'estate')
  assert.equal(again.code, 0, again.stdout + again.stderr)
  const state = await simulator.door<State>('GET', 'state')
  assert.deepEqual(
    state.guests.map(({ vmid }) => vmid).sort((a, b) => a - b),
    [108, 109, 205],
  )
  const disks = state.hosts.flatMap(({ volumes }) => Object.values(volumes).flat()).filter(({ vmid }) => vmid === 205)
  assert.equal(disks.length, 1)
})

test('who asked for what is kept: apply and delete under the name of who ran them', async () => {
  const { estate, env, cwd, ended } = await set({ 'vm.yaml': vm(2048) })
  assert.equal((await ended('apply', '--yes', '--timeout', '240s', 'estate')).code, 0)
  writeFileSync(path.join(estate, 'vm.yaml'), '')
  const gone = await ended('delete', 'EnvironmentVM/web-1', '--yes', '--dir', 'estate')
  assert.equal(gone.code, 0, gone.stdout + gone.stderr)
  const told = await start(['events', '--audit'], { cwd, env: { ...env, USER: 'anna' } }).ended
  assert.match(told.stdout, /cli:\S+ +apply +files-\S+ +done +asked for 1 actions?/)
  assert.match(told.stdout, /cli:\S+ +delete +EnvironmentVM\/web-1 +done/)
  const one = await ended('events', 'EnvironmentVM/web-1', '--audit', '-o', 'json')
  assert.equal((JSON.parse(one.stdout) as { items: unknown[] }).items.length, 1)
})

test('a configuration file, health, a support bundle without secrets, and what a branch would change', async () => {
  const { cwd, simulator, estate, env, croft, ended } = await set({ 'vm.yaml': vm(2048) })
  const port = new URL(simulator.endpoint).port
  writeFileSync(
    path.join(estate, 'checks.yaml'),
    `apiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: api}\nspec: {tcp: {host: 127.0.0.1, port: ${port}}}\n`,
  )
  writeFileSync(
    path.join(cwd, 'croft.yaml'),
    'listen: 127.0.0.1:1\nsources: [{name: home, directory: estate, poll: 1s}]\n',
  )

  // What the environment and the flags say wins over the file.
  const running = croft('run', '--config', 'croft.yaml', '--listen', '127.0.0.1:0')
  let said = ''
  running.child.stderr?.on('data', (chunk: string) => {
    said += chunk
  })
  let url: string | undefined
  for (let tries = 0; url === undefined && tries < 6_000; tries++) {
    url = /The page is at (\S+)/.exec(said)?.[1]
    await sleep(25)
  }
  assert.ok(url !== undefined, said)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  for (let tries = 0; (await fetch(`${url}/readyz`)).status !== 200; tries++) {
    assert.ok(tries < 6_000)
    await sleep(50)
  }
  for (
    let tries = 0;
    !/croft_check_passed\{[^}]*check="api"[^}]*\} 1/.test(await (await fetch(`${url}/metrics`)).text());
    tries++
  ) {
    assert.ok(tries < 6_000, 'the check is not in the metrics')
    await sleep(50)
  }
  signal(running, 'SIGTERM')
  assert.equal((await running.ended).code, 0)
  const settled = await ended('apply', '--yes', '--timeout', '240s', 'estate')
  assert.equal(settled.code, 0, settled.stdout + settled.stderr)

  const well = await ended('health', '--json', 'estate')
  assert.equal(well.code, 0, well.stdout + well.stderr)
  const health = JSON.parse(well.stdout) as {
    readonly healthy: boolean
    readonly checks: readonly { passed: string }[]
  }
  assert.ok(health.healthy && health.checks[0]?.passed === 'yes')
  writeFileSync(
    path.join(estate, 'bad.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: nobody}\nspec: {tcp: {host: 127.0.0.1, port: 1}}\n',
  )
  const ill = await ended('health', 'estate')
  assert.equal(ill.code, 1)
  assert.match(ill.stdout, /bad {2}check nobody: 127\.0\.0\.1:1: nothing listens there \(ECONNREFUSED\)/)
  writeFileSync(
    path.join(estate, 'bad.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: x}\nspec: {password: canary-in-git, "\u202e\u009b31m": x}\n',
  )

  const bundled = await ended('support-bundle', 'estate', '--write', 'bundle.json')
  assert.equal(bundled.code, 0, bundled.stderr)
  const bundle = readFileSync(path.join(cwd, 'bundle.json'), 'utf8')
  assert.equal(statSync(path.join(cwd, 'bundle.json')).mode & 0o777, 0o600)
  // Names in it are anybody's, and it is looked at in a terminal.
  assert.doesNotMatch(bundle, /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
  assert.ok(bundle.includes('EnvironmentVM/web-1') && bundle.includes('CROFT_STATE'))
  const token = simulator.token.split('=')[1] ?? simulator.token
  for (const secret of [token, Buffer.from(token).toString('base64'), 'canary-in-git'])
    assert.ok(!bundle.includes(secret), 'a secret is in the bundle')
  assert.equal((await ended('support-bundle', 'estate', '--write', 'bundle.json')).code, 1, 'nothing is overwritten')

  const why = await ended('why', 'EnvironmentVM/web-1', '--dir', 'estate')
  // It answers, and its exit code tells of the file that is still wrong.
  assert.equal(why.code, 1)
  assert.match(why.stderr, /1 error in estate\. Run croft validate estate to see them/)
  assert.match(why.stdout, /create VM 205/)

  const audited = await ended('events', '--audit', '-o', 'json')
  const { items } = JSON.parse(audited.stdout) as { readonly items: readonly { actor: string; what: string }[] }
  assert.ok(
    items.some(({ actor, what }) => actor.startsWith('git:') && what === 'commit'),
    audited.stdout,
  )

  // A pull request.
  writeFileSync(path.join(estate, 'bad.yaml'), '')
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Anna', '-c', 'user.email=anna@example.org', ...words], {
      cwd: estate,
      env: { PATH: process.env.PATH ?? '', HOME: env.HOME },
    })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-q', '-m', 'As it is')
  git('checkout', '-q', '-b', 'more-memory')
  writeFileSync(path.join(estate, 'vm.yaml'), vm(4096))
  git('commit', '-q', '-a', '-m', 'More memory')
  git('checkout', '-q', 'main')
  const calls = (await simulator.stats()).writes
  const compared = await ended('plan', 'estate', '--base', 'main', '--head', 'more-memory')
  assert.equal(compared.code, 0, compared.stderr)
  assert.match(compared.stdout, /EnvironmentVM\/web-1/)
  assert.match(compared.stdout, /memory/)
  assert.equal((await simulator.stats()).writes, calls, 'a preview writes nothing')
  const same = await ended('plan', 'estate', '--base', 'main', '--head', 'main')
  assert.ok(!same.stdout.includes('web-1'), same.stdout)
  // What was merged meanwhile is no part of what the branch would do.
  writeFileSync(
    path.join(estate, 'lan.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: Network\nmetadata: {name: lan}\nspec: {nonsense: 1}\n',
  )
  git('add', '.')
  git('commit', '-q', '-m', 'Broken on the branch main alone')
  const behind = await ended('plan', 'estate', '--base', 'main', '--head', 'more-memory')
  assert.equal(behind.code, 1, 'merged, it has what is broken on main')
  assert.match(behind.stdout, /nonsense/)
  writeFileSync(path.join(estate, 'vm.yaml'), vm(8192))
  git('commit', '-q', '-a', '-m', 'The same line')
  const against = await ended('plan', 'estate', '--base', 'main', '--head', 'more-memory')
  assert.equal(against.code, 1)
  assert.match(against.stderr, /it conflicts with main in .*vm\.yaml/)
})
