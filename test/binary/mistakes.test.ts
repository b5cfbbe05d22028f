import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { endAll, estateAt, type Simulator, scratch, signal, start, startSimulator } from './children.ts'
import { passwordFrom } from './web-vm.ts'

after(endAll)

const vm = (more = '', name = 'web', { host = 'still-fawn', storage = 'local-zfs', id = 120 } = {}) =>
  `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${host}
    vmId: ${id}
    started: true
    disk: [{interface: scsi0, datastoreId: ${storage}, size: 8}]
${more}`

interface Mistake {
  readonly made: string
  /** Words after `croft`. */
  readonly typed: readonly string[]
  /** Manifests of the directory `estate`; without them it holds one machine. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly change?: (manifest: string) => string
  readonly code: number
  /** What, where, why and how to go on: each must be in the answer. */
  readonly says: readonly RegExp[]
  readonly hides?: RegExp
}

const AT = /proxmox\.yaml:\d+:\d+/
const DOCTOR = /run croft doctor/

const MISTAKES: readonly Mistake[] = [
  {
    made: 'the token is wrong',
    typed: ['plan', 'estate'],
    env: { PROXMOX_TOKEN: 'root@pam!croft=00000000-0000-0000-0000-000000000000' },
    code: 4,
    says: [/Connection default: refused/, AT, /the token is wrong, expired or was removed/, /pveum user token list/],
  },
  {
    made: 'the token is not set',
    typed: ['plan', 'estate'],
    env: { PROXMOX_TOKEN: '' },
    code: 1,
    says: [/the token of connection default/, AT, /PROXMOX_TOKEN is (?:not set|empty)/, /[Ss]et it/],
  },
  {
    made: 'the token is something else',
    typed: ['plan', 'estate'],
    env: { PROXMOX_TOKEN: 'abc' },
    code: 1,
    says: [/token of connection default/, AT, /user@realm!name=secret/, DOCTOR],
  },
  {
    made: 'the port is wrong',
    typed: ['plan', 'estate'],
    change: (text) => text.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9'),
    code: 1,
    says: [/Connection default: unreachable/, AT, /nothing listens on 127\.0\.0\.1:9/, /correct spec\.endpoint/],
  },
  {
    made: 'the name of the host is wrong',
    typed: ['plan', 'estate'],
    change: (text) => text.replace(/127\.0\.0\.1:\d+/, 'pve.invalid:8006'),
    code: 1,
    says: [/Connection default: unreachable/, AT, /the name pve\.invalid cannot be resolved/, /correct spec\.endpoint/],
  },
  {
    made: 'the certificate is another one',
    typed: ['plan', 'estate'],
    change: (text) => text.replace(/fingerprint: "?[0-9A-F]{2}:[0-9A-F]{2}/, (start) => `${start.slice(0, -5)}00:00`),
    code: 4,
    says: [
      /Connection default: refused/,
      AT,
      /has SHA-256 .* expected 00:00/,
      /pvenode cert info/,
      /spec\.fingerprint/,
    ],
  },
  {
    made: 'a storage that no host has',
    typed: ['plan', 'estate'],
    files: { 'vm.yaml': vm('', 'web', { storage: 'fast-ssd' }) },
    code: 2,
    says: [/EnvironmentVM\/web/, /vm\.yaml:1/, /needs storage fast-ssd, which is not on host/, /has local, /],
  },
  {
    made: 'a host that does not exist',
    typed: ['plan', 'estate'],
    files: { 'vm.yaml': vm('', 'web', { host: 'pve9' }) },
    code: 2,
    says: [/EnvironmentVM\/web/, /vm\.yaml:1/, /there is no host pve9/, /choose one of .*still-fawn/],
  },
  {
    made: 'a bridge that the host does not have',
    typed: ['plan', 'estate'],
    files: { 'vm.yaml': vm('    networkDevice: [{bridge: vmbr9}]\n') },
    code: 2,
    says: [
      /EnvironmentVM\/web/,
      /vm\.yaml:1/,
      /needs bridge vmbr9, which is not on host still-fawn/,
      /has vmbr0: choose/,
    ],
  },
  {
    made: 'an id that a machine of somebody else has',
    typed: ['plan', 'estate'],
    files: { 'vm.yaml': vm('', 'web', { id: 108 }) },
    code: 2,
    says: [/EnvironmentVM\/web/, /vm\.yaml:1/, /108/, /choose another id|adopt/],
  },
  {
    made: 'a command with a typing error',
    typed: ['aply', 'estate'],
    code: 64,
    says: [/Unknown command 'aply'/, /Did you mean apply\?/, /croft --help/],
  },
  {
    made: 'an option that does not exist',
    typed: ['plan', 'estate', '--dri'],
    code: 64,
    says: [/Unknown option '--dri'/, /croft plan --help/],
  },
  {
    made: 'a directory that does not exist',
    typed: ['plan', 'estat'],
    code: 64,
    says: [/There is no file or directory estat/, /Name the directory that holds the manifests/],
  },
  {
    made: 'a directory without manifests',
    typed: ['plan', 'home'],
    code: 0,
    says: [/there is no manifest .* in home/, /Is it the right directory\?/],
  },
  {
    made: 'a file that is neither a saved plan nor a configuration',
    typed: ['apply', 'estate/none.plan', '--yes'],
    files: { 'vm.yaml': vm(), 'none.plan': '{}\n' },
    code: 64,
    says: [/none\.plan is a file/, /Name the directory that holds the manifests/],
  },
  {
    made: 'a file in place of the directory',
    typed: ['plan', 'estate/notes.txt'],
    files: { 'vm.yaml': vm(), 'notes.txt': 'buy milk\n' },
    code: 64,
    says: [
      /notes\.txt is a file, not a directory/,
      /no apiVersion and kind.*no sources/,
      /Name the directory that holds the manifests/,
    ],
  },
  {
    made: 'a manifest in which nothing stands',
    typed: ['validate', 'estate/empty.yaml'],
    files: { 'vm.yaml': vm(), 'empty.yaml': '# later\n---\n' },
    code: 64,
    says: [/estate\/empty\.yaml is empty: it declares nothing/, /Write a manifest into it, or name its directory/],
  },
  {
    made: 'a manifest that is not there',
    typed: ['validate', 'estate/nothing.yaml'],
    files: { 'vm.yaml': vm() },
    code: 64,
    says: [/There is no file or directory estate\/nothing\.yaml/, /Name the directory/],
  },
  {
    made: 'a simulator that writes where a file is',
    typed: ['sim', '--port', '0', '--write', 'estate/vm.yaml'],
    files: { 'vm.yaml': vm() },
    code: 1,
    says: [/estate\/vm\.yaml is in the way/, /Name another one, or remove it/],
  },
  {
    made: 'a password from a Secret that is nowhere',
    typed: ['plan', 'estate'],
    files: { 'vm.yaml': vm(`    ${passwordFrom('users')}\n`) },
    code: 2,
    says: [
      /refused \[secret-unread\]/,
      /no Secret users with the key ubuntu/,
      /sops has encrypted/,
      /0 to add.*1 refused/,
    ],
  },
  {
    made: 'a configuration in place of the directory to follow',
    typed: ['run', 'estate/croft.yaml', '--listen', '127.0.0.1:0'],
    files: { 'croft.yaml': 'sources: []\n' },
    code: 64,
    says: [/croft\.yaml is a file/, /Name the directory or the repository/, /croft run --config estate\/croft\.yaml/],
  },
  {
    made: 'a directory to follow that is not there',
    typed: ['run', 'estat', '--listen', 'off'],
    code: 64,
    says: [/There is no directory estat/, /Name the directory or the repository \(https:\/\/ or ssh:\/\/\) to follow/],
  },
  {
    made: 'a branch of a directory',
    typed: ['run', 'estate', '--branch', 'production', '--listen', 'off'],
    code: 64,
    says: [/sources\.0\.branch: a directory is followed as its files are/, /check the branch out there/, /by url/],
  },
  {
    made: 'a configuration with a typing error and without what it needs',
    typed: ['run', '--config', 'estate/croft.yaml'],
    files: { 'croft.yaml': 'listen: off\nsource:\n  - directory: .\n' },
    code: 64,
    says: [/croft\.yaml:2:1 {2}"source" is not a field/, /did you mean sources\?/, /sources is missing; it is a list/],
  },
  {
    made: 'a configuration with a token in it',
    typed: ['run', '--config', 'estate/croft.yaml'],
    files: {
      'croft.yaml': 'listen: off\nsources:\n  - url: https://git.example/a.git\n    token: glpat-canary\n',
    },
    code: 64,
    says: [/croft\.yaml:4:5 {2}sources\.0\.token: say where the secret is found, \{env: NAME\} or \{file: \/path\}/],
    hides: /canary/,
  },
  {
    made: 'a repository over SSH whose server nobody can verify',
    typed: ['run', '--config', 'estate/croft.yaml'],
    files: { 'croft.yaml': 'listen: off\nsources:\n  - url: git@git.example:me/home.git\n' },
    code: 64,
    says: [/croft\.yaml:3:5 {2}sources\.0\.ssh: ssh\.hostKey is missing/, /ssh-keyscan HOST prints it/],
  },
  {
    made: 'a configuration that is not YAML',
    typed: ['run', '--config', 'estate/croft.yaml'],
    files: { 'croft.yaml': 'listen: off\n  sources: []\n' },
    code: 64,
    says: [/croft\.yaml:2:3 {2}this line is indented deeper/, /give it the same indentation/, /--config/],
  },
  {
    made: 'a name that two things have, to be deleted',
    typed: ['delete', 'web', '--dir', 'estate'],
    files: {
      'vm.yaml': vm(),
      'check.yaml':
        'apiVersion: croft.dev/v1alpha1\nkind: HealthCheck\nmetadata: {name: web}\nspec: {tcp: {host: a.example, port: 443}}\n',
    },
    code: 64,
    says: [
      /web is the name of (?:EnvironmentVM|HealthCheck)\/web and (?:EnvironmentVM|HealthCheck)\/web/,
      /Give KIND\/NAME/,
    ],
  },
  {
    made: 'the kind of kubectl',
    typed: ['get', 'pods', '--dir', 'estate'],
    code: 1,
    says: [/Pods are no resource of croft/, /croft pods CLUSTER/],
  },
  {
    made: 'a kind with a letter missing',
    typed: ['why', 'Machin/web', '--dir', 'estate'],
    code: 64,
    says: [/There is no kind Machin\. Did you mean Machine\?/],
  },
  {
    made: 'a database where a directory is',
    typed: ['plan', 'estate'],
    env: { CROFT_STATE: 'estate' },
    code: 1,
    says: [/The database \S+estate cannot be used/, /directory/, /--state or CROFT_STATE/],
  },
  {
    made: 'a YAML file of another program that nobody can read',
    typed: ['validate', 'estate'],
    files: { 'vm.yaml': vm(), 'play.yml': 'tasks: run: this\n' },
    code: 1,
    says: [/Error\[yaml-syntax\]/, /play\.yml:1:8/, /if this file is not a manifest, name it in \.croftignore/],
  },
  {
    made: 'a JSON file with a comma too many',
    typed: ['validate', 'estate'],
    files: { 'vm.yaml': vm(), 'settings.json': '{"apiVersion": "example.org/v1", "kind": "Web", "a": [1, 2,]}\n' },
    code: 1,
    says: [/Error\[json-syntax\]/, /settings\.json:1/, /no comma after the last value/, /name it in \.croftignore/],
  },
  {
    made: 'a patch of a kustomization that is only the name of its file',
    typed: ['validate', 'estate'],
    files: {
      'vm.yaml': vm(),
      'bigger.yaml': vm(),
      'kustomization.yaml': 'resources: [proxmox.yaml, vm.yaml]\npatches:\n  - bigger.yaml\n',
    },
    code: 1,
    says: [
      /kustomization\.yaml:2:1/,
      /patches\.0 is plain text; a patch is a block with path:/,
      /"- path: bigger\.yaml"/,
    ],
  },
  {
    made: 'a name of nothing',
    typed: ['describe', 'web-9', 'estate/'],
    code: 1,
    says: [/Nothing is called web-9/, /Run croft get/],
  },
]

describe('what is wrong around the manifests', () => {
  let simulator: Simulator
  before(async () => {
    simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], scratch())
  })

  for (const { made, typed, files, env = {}, change, code, says, hides } of MISTAKES)
    test(made, async () => {
      const cwd = scratch()
      const estate = path.join(cwd, 'estate')
      estateAt(estate, simulator, files ?? { 'vm.yaml': vm() })
      if (change !== undefined) rewrite(path.join(estate, 'proxmox.yaml'), change)
      const usual = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
      const { stdout, stderr, code: ended } = await start([...typed], { cwd, env: { ...usual, ...env } }).ended
      const answer = `${stdout}${stderr}`
      assert.equal(ended, code, answer)
      for (const part of says) assert.match(answer, part)
      if (hides !== undefined) assert.doesNotMatch(answer, hides)
      assert.doesNotMatch(answer, /This was not expected|\n {4}at /, 'an ordinary mistake gets an ordinary sentence')
      assert.ok(!answer.includes(simulator.token), 'the token is shown')
    })

  test('apply in the wrong directory: nothing is written into it, and the answer names it', async () => {
    const cwd = scratch()
    const empty = path.join(cwd, 'home')
    const { stdout, stderr, code } = await start(['apply', '--yes'], { cwd: empty, env: { HOME: empty } }).ended
    assert.equal(code, 0, stderr)
    assert.ok(`${stdout}${stderr}`.includes(`there is no manifest (.yaml, .yml or .json) in ${empty}. Is it the right`))
    assert.equal(existsSync(path.join(empty, 'estate.yaml')), false)
  })

  test('a machine that is there: a disk that shrinks, and one that goes to a storage which is not there', async () => {
    const cwd = scratch()
    const estate = path.join(cwd, 'estate')
    const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
    const file = { 'vm.yaml': vm('', 'there', { id: 130 }).replace('started: true', 'started: false') }
    estateAt(estate, simulator, file)
    const made = await start(['apply', 'estate', '--yes'], { cwd, env }).ended
    assert.equal(made.code, 0, made.stderr)
    const planned = async (from: string, to: string) => {
      writeFileSync(path.join(estate, 'vm.yaml'), file['vm.yaml'].replace(from, to))
      return (await start(['plan', 'estate'], { cwd, env }).ended).stdout
    }
    assert.match(
      await planned('size: 8', 'size: 4'),
      /refused \[data\].*disks\.scsi0\.sizeGb \(a disk never shrinks: it has 8 GiB, 4 GiB are declared\)/,
    )
    const moved = await planned('local-zfs', 'local-zsf')
    assert.match(moved, /refused \[placement\]: disk scsi0 needs storage local-zsf, which is not on host still-fawn/)
    assert.match(moved, /to allow: no host has such a storage local-zsf; still-fawn has local, local-zfs/)
  })

  test('a server that speaks HTTP, and no Git on this computer', async () => {
    const cwd = scratch()
    const estate = path.join(cwd, 'estate')
    const plain = createHttpServer((_, response) => response.end('hello'))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const { port } = plain.address() as { readonly port: number }
    try {
      estateAt(estate, simulator, { 'vm.yaml': vm() })
      rewrite(path.join(estate, 'proxmox.yaml'), (text) => text.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`))
      const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
      const planned = await start(['plan', 'estate'], { cwd, env }).ended
      assert.equal(planned.code, 1, planned.stdout)
      assert.match(planned.stdout, /Connection default: unreachable {3}proxmox\.yaml:\d+:\d+/)
      assert.match(planned.stdout, /does not speak HTTPS .*correct the port \(Proxmox listens on 8006\)/)
    } finally {
      plain.close()
    }
    const following = start(['run', 'https://git.example/home.git', '--listen', 'off', '--state', 'run.db'], {
      cwd,
      env: { HOME: path.join(cwd, 'home'), PATH: path.join(cwd, 'home') },
    })
    const said = await new Promise<string>((resolve) => following.child.stdout?.once('data', resolve))
    signal(following, 'SIGTERM')
    await following.ended
    assert.match(said, /SourceTrouble: main: git .*Git is not installed, or not in PATH: install it/)
  })

  test('a port that is taken, of the page and of the simulator', async () => {
    const cwd = scratch()
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { readonly port: number }
    try {
      estateAt(path.join(cwd, 'estate'), simulator, { 'vm.yaml': vm() })
      const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
      const page = await start(['run', 'estate', '--listen', `127.0.0.1:${port}`], { cwd, env }).ended
      assert.equal(page.code, 1, page.stderr)
      assert.match(
        page.stderr,
        new RegExp(`cannot be served at 127\\.0\\.0\\.1:${port}: another program uses that port`),
      )
      assert.match(page.stderr, /Choose another address with --listen/)
      const sim = await start(['sim', '--port', String(port)], { cwd, env }).ended
      assert.equal(sim.code, 1, sim.stderr)
      assert.match(sim.stderr, new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is in use.*choose another port`))
    } finally {
      taken.close()
    }
  })
})

function rewrite(file: string, change: (text: string) => string): void {
  const before = readFileSync(file, 'utf8')
  const now = change(before)
  assert.notEqual(now, before, 'nothing would be proved')
  writeFileSync(file, now)
}
