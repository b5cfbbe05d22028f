import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { sopsYaml } from '../../src/source/testing/sops-writer.ts'
import { endAll, scratch, signal, start, startSimulator } from './children.ts'
import { passwordFrom, webVm } from './web-vm.ts'

after(endAll)

const CANARY = { admin: 'canary-of-admin-1f8e', lab: 'canary-of-lab-77c2' } as const

/** In the forms in which it could be written down. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('hex')]
}

/**
 * An administrator and a tenant with a secret each; the tenant also has a copy of the administrator's file and
 * refers to it in every form. Nothing that is written down, shown or said has a secret of either.
 */
test('[S-47] events, files, page, plan and support bundle of a whole run hold no secret of any source', async () => {
  const cwd = scratch()
  const at = (name: string) => path.join(cwd, name)
  const keys = { admin: await generateIdentity(), lab: await generateIdentity() }
  const sealed = async (owner: keyof typeof CANARY, name: string) =>
    sopsYaml(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { ubuntu: CANARY[owner] } },
      { recipients: [await identityToRecipient(keys[owner])], encryptedRegex: '^stringData$' },
    )
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const named = (name: string, vmid: number, password: string) =>
    webVm({ fields: [passwordFrom(password)] })
      .replaceAll('web-1', name)
      .replace('205', String(vmid))
  const stolen = await sealed('admin', 'users')
  const sources: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    admin: {
      'proxmox.yaml': `apiVersion: croft.dev/v1alpha1\nkind: Proxmox\nmetadata: {name: default}\nspec:\n  endpoint: ${simulator.endpoint}\n  fingerprint: "${simulator.fingerprint}"\n  token: {env: PROXMOX_TOKEN}\n`,
      'vm.yaml': named('web-1', 205, 'users'),
      'users.yaml': stolen,
    },
    lab: {
      'vm.yaml': named('lab-web', 505, 'own'),
      'own.yaml': await sealed('lab', 'own'),
      'copied.yaml': stolen,
      'stolen.yaml': named('lab-stolen', 506, 'users'),
    },
  }
  for (const [source, files] of Object.entries(sources))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(at(source), { recursive: true })
      writeFileSync(path.join(at(source), name), text)
    }
  writeFileSync(at('lab.key'), `${keys.lab}\n`, { mode: 0o600 })
  const all = ['*']
  const config = {
    listen: '127.0.0.1:0',
    sources: [
      { name: 'admin', directory: 'admin', poll: '1s' },
      {
        name: 'lab',
        directory: 'lab',
        poll: '1s',
        age: at('lab.key'),
        grant: {
          kinds: ['EnvironmentVM'],
          connections: all,
          hosts: all,
          storages: all,
          networks: all,
          templates: all,
          vmids: { from: 500, to: 599 },
        },
      },
    ],
  }
  writeFileSync(at('croft.yaml'), JSON.stringify(config))
  const env = {
    HOME: at('home'),
    CROFT_STATE: at('state/state.db'),
    CROFT_LOG: 'debug',
    PROXMOX_TOKEN: simulator.token,
    SOPS_AGE_KEY: keys.admin,
  }
  mkdirSync(at('state'))
  const running = start(['run', '--config', 'croft.yaml', '--log', 'json'], { cwd, env })
  let said = ''
  for (const stream of [running.child.stdout, running.child.stderr])
    stream?.on('data', (chunk: string) => {
      said += chunk
    })
  const until = async (holds: () => Promise<boolean> | boolean, what: string) => {
    for (let tries = 0; !(await holds()); tries++) {
      assert.ok(tries < 6_000 && running.child.exitCode === null, `${what}: ${said}`)
      await sleep(50)
    }
  }
  await until(() => /The page is at \S+/.test(said), 'the page')
  const page = /The page is at (\S+?)\/?\n/.exec(said)?.[1] ?? ''
  const read = async (place: string) => (await fetch(`${page}${place}`)).text()
  const view = async () => JSON.parse(await read('/api/view')) as View
  const made = async (key: string) => (await view()).rows.some((one) => one.key === key && one.ready === 'True')
  await until(async () => (await made('EnvironmentVM/web-1')) && (await made('EnvironmentVM/lab-web')), 'both machines')
  const shown = await read('/api/view')
  assert.match(shown, /none of our age keys opens it/, 'what the tenant copied stays closed')
  const seen = new Map<string, string>([['the view', shown]])
  for (const place of [
    '/api/history?limit=500',
    '/api/plan',
    '/api/timeline',
    '/api/health',
    '/metrics',
    ...['web-1', 'lab-web', 'lab-stolen'].flatMap((name) => [
      `/api/resource?key=EnvironmentVM/${name}`,
      `/api/manifest?key=EnvironmentVM/${name}`,
    ]),
  ])
    seen.set(place, await read(place))
  signal(running, 'SIGTERM')
  const ended = await running.ended
  seen.set('what it said', ended.stdout + ended.stderr)
  for (const words of [
    ['plan', 'croft.yaml', '--keep-going', '--calls'],
    ['plan', 'croft.yaml', '--keep-going', '-o', 'json'],
    ['events', '-o', 'json'],
    ['events', '--audit'],
    ['support-bundle', 'admin', '--write', 'bundle.json'],
  ]) {
    const { stdout, stderr } = await start(words, { cwd, env }).ended
    seen.set(`croft ${words.join(' ')}`, stdout + stderr)
  }
  // Everything on this computer that croft has written: database, caches, bundle.
  for (const entry of readdirSync(cwd, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const file = path.join(entry.parentPath, entry.name)
      seen.set(path.relative(cwd, file), readFileSync(file, 'latin1'))
    }
  assert.ok([...seen.keys()].some((name) => name.startsWith('state/')) && seen.has('bundle.json'))
  for (const [where, text] of seen)
    for (const [owner, secret] of Object.entries(CANARY))
      for (const form of formsOf(secret)) assert.ok(!text.includes(form), `the secret of ${owner} is in ${where}`)
})

interface View {
  readonly rows: readonly { readonly key: string; readonly ready: string }[]
}
