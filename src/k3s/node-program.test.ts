import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { parse } from 'yaml'
import { adminCredentials, makeClusterSecrets } from '../drivers/k3s/make-secrets.ts'
import { readFacts } from '../drivers/k3s/read-node.ts'
import { backupFiles, s3Hash, s3Lines } from './backup-flags.ts'
import { OPTIONAL_FILES } from './node-files.ts'
import { FULL_KB, OWN_SNAPSHOTS } from './node-program.ts'
import { type NodeRoot, nodeRoot, processStat, UP_TICKS } from './testing/node-root.ts'
import { caHash } from './token.ts'

let root: NodeRoot
beforeEach(() => {
  root = nodeRoot()
})
afterEach(() => root.remove())

const VERSION = 'v1.34.3+k3s1'
// Like the real one, it prints the name of its file, and the version of Go as well.
const PROGRAM = `#!/bin/sh\necho "\${0##*/} version ${VERSION} (abc)"\necho "go version go1.26.5"\necho "$0 $*" >>"$CROFT_ROOT/calls"\n`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const files = (...list: readonly (readonly [path: string, mode: string, text: string])[]) =>
  JSON.stringify({ files: list.map(([file, mode, text]) => ({ path: file, mode, base64: base64(text) })) })

describe('put', () => {
  test('writes each file whole, with its mode, and nothing of it stays behind', async () => {
    const answer = await root.ask(
      ['put'],
      files(
        ['/etc/rancher/k3s/config.yaml', '0600', 'a: 1\n'],
        ['/var/lib/rancher/k3s/server/tls/etcd/peer-ca.key', '0600', 'K'],
      ),
    )
    assert.deepEqual(answer, { ok: true })
    assert.equal(root.read('/etc/rancher/k3s/config.yaml'), 'a: 1\n')
    const mode = (file: string) => statSync(path.join(root.directory, file)).mode & 0o777
    assert.equal(mode('/etc/rancher/k3s/config.yaml'), 0o600)
    assert.equal(mode('/var/lib/rancher/k3s/server/tls'), 0o700)
    assert.ok(!root.has('/etc/rancher/k3s/config.yaml.croft-new'))
  })

  test('[S-01] takes nothing as a command, and writes nowhere but where K3s and croft live', async () => {
    const bad = [
      '/etc/rancher/k3s/$(touch /tmp/croft-canary)',
      '/etc/rancher/k3s/`id`',
      '/etc/rancher/../passwd',
      '/etc/sudoers.d/x',
      '/etc/rancher/k3s/a;reboot',
      '/etc/rancher/k3s/a b',
      'etc/rancher/k3s/x',
      '/etc/rancher/k3s/',
    ]
    for (const file of bad) {
      const answer = await root.ask(['put'], files([file, '0600', 'x']))
      assert.equal(answer.ok, false, file)
    }
    assert.equal((await root.ask(['put'], files(['/etc/rancher/k3s/a', '7777', 'x']))).ok, false)
    assert.equal(
      (await root.ask(['put'], '{"files":[{"path":"/etc/rancher/k3s/a","mode":"0600","base64":"$(id)"}]}')).ok,
      false,
    )
    assert.ok(!root.has('/tmp/croft-canary') && !root.has('/etc/rancher/k3s/a'))
  })

  test('removes of its own files those that must be absent, and nothing else', async () => {
    const manifests = '/var/lib/rancher/k3s/server/manifests'
    const own = [`${manifests}/croft-kube-vip.yaml`, '/etc/systemd/system/k3s.service.d/20-croft-backup.conf']
    await root.ask(
      ['put'],
      files(
        ...own.map((file) => [file, '0600', 'x'] as const),
        [`${manifests}/mine.yaml`, '0600', 'x'],
        ['/etc/rancher/k3s/registries.yaml', '0600', 'mirrors: {}\n'],
      ),
    )
    const there = (await root.ask(['facts'])).files as Readonly<Record<string, string>>
    assert.deepEqual(Object.keys(there).sort(), [...own].sort(), 'a registries.yaml of others is none of them')
    assert.equal(there[own[0] ?? ''], sha256('x'))
    const absent = [...OPTIONAL_FILES, `${manifests}/mine.yaml`, '/etc/passwd']
    assert.deepEqual(await root.ask(['put'], JSON.stringify({ files: [], absent })), { ok: true })
    assert.deepEqual((await root.ask(['facts'])).files, {})
    assert.ok(root.has(`${manifests}/mine.yaml`) && root.has('/etc/rancher/k3s/registries.yaml'))
    const text = '{"mirrors":{},"configs":{}}\n'
    const put = JSON.parse(files(['/etc/rancher/k3s/registries.yaml', '0600', text], [own[0] ?? '', '0600', 'y']))
    await root.ask(['put'], JSON.stringify({ ...put, absent: OPTIONAL_FILES.slice(2) }))
    assert.deepEqual(Object.keys((await root.ask(['facts'])).files as object), OPTIONAL_FILES.slice(0, 2))
  })

  test('a share that changed is mounted again, and the same one is left alone', async () => {
    const mount = (share: string) =>
      root.ask(['put'], files(['/etc/systemd/system/croft-backup.mount', '0644', `[Mount]\nWhat=${share}\n`]))
    const MOUNTED = ['systemctl daemon-reload', 'systemctl --no-block restart croft-backup.mount']
    for (const [share, calls] of [
      ['nas:/old', MOUNTED],
      ['nas:/old', []],
      ['nas:/new', MOUNTED],
    ] as const) {
      root.write('/calls', '')
      assert.deepEqual(await mount(share), { ok: true })
      assert.deepEqual(root.calls().split('\n').filter(Boolean), calls, share)
    }
    root.write('/test-bin/systemctl', '#!/bin/sh\nexit 1\n', 0o755)
    const refused = { ok: false, error: 'systemd did not take croft-backup.mount' }
    assert.deepEqual(await mount('nas:/newest'), refused)
    assert.deepEqual((await root.ask(['facts'])).files, {}, 'the next look sees that it is not in force')
  })

  test('the Secret of backups is told by its declaration, and one without the note by its text', async () => {
    const path = '/var/lib/rancher/k3s/server/manifests/croft-backup.json'
    const s3 = { endpoint: 'https://s3.example.org', bucket: 'etcd' }
    const [file] = backupFiles({ schedule: '0 3 * * *', keep: 5, to: { s3 } }, 'key:secret')
    await root.ask(['put'], files([path, '0600', file?.text ?? '']))
    assert.deepEqual((await root.ask(['facts'])).files, { [path]: s3Hash(s3) })
    await root.ask(['put'], files([path, '0600', '{"kind":"Secret"}']))
    assert.deepEqual((await root.ask(['facts'])).files, { [path]: sha256('{"kind":"Secret"}') })
  })

  test('facts name each full disk once, and none that has room or does not answer', async () => {
    const df = (...disks: readonly (readonly [part: string, mounted: string, freeKb: number | string])[]) =>
      root.write(
        '/test-bin/df',
        `#!/bin/sh\necho 'Filesystem 1024-blocks Used Available Capacity Mounted on'\ncase "$2" in\n${disks.map(([part, mounted, free]) => `*${part}) echo "/dev/x 1 1 ${free} 9% ${mounted}" ;;\n`).join('')}*) exit 1 ;;\nesac\n`,
        0o755,
      )
    const full = async () => readFacts(await root.ask(['facts']))?.full
    for (const folder of ['/var/lib/rancher/k3s', '/var/lib/kubelet', '/usr/local']) root.write(`${folder}/x`, '')
    df(['/k3s', '/data', FULL_KB - 1], ['/kubelet', '/', 12], ['/etc', '/', 12], ['/local', '/', 12], ['/lib', '/', 12])
    assert.deepEqual(await full(), [
      { path: '/var/lib/rancher/k3s', freeKb: FULL_KB - 1 },
      { path: '/var/lib/kubelet', freeKb: 12 },
    ])
    df(['/k3s', '/', FULL_KB], ['/etc', '/', FULL_KB], ['/local', '/', '-'])
    assert.equal(await full(), undefined)
  })

  test('facts say whether the configuration would begin a cluster', async () => {
    for (const [text, begins] of [
      ['# croft: ab\n"cluster-init": true\n', true],
      ['cluster-init: true\n', true],
      ['"server": "https://10.0.0.1:6443"\n', false],
      ['"node-label": ["cluster-init: true"]\n', false],
    ] as const) {
      root.write('/etc/rancher/k3s/config.yaml', text)
      assert.equal(readFacts(await root.ask(['facts']))?.begins, begins, text)
    }
  })

  test('an input that is cut off or no list of files is refused as a whole', async () => {
    for (const input of ['', '{}', '[]', '{"files":[]}', '{"files":[{"path":"/etc/rancher/k3s/a","mode":"0600"']) {
      assert.equal((await root.ask(['put'], input)).ok, false, input)
    }
  })
})

describe('install', () => {
  test('from an address, when the checksum is right', async () => {
    await serving({ '/k3s': PROGRAM }, async (base) => {
      assert.deepEqual(await install([`${base}/k3s`], sha256(PROGRAM)), { ok: true })
    })
    assert.equal(root.read('/usr/local/bin/k3s'), PROGRAM)
    const facts = await root.ask(['facts'])
    assert.equal(facts.version, VERSION)
    assert.deepEqual({ ...(facts.job as object), sinceMs: 0 }, { name: 'install', state: 'done', sinceMs: 0 })
  })

  test('a job that ends while it is looked at has ended well; one that waits in the queue of systemd still runs', async () => {
    const note = (state: string) => `name=install\\nstate=${state}\\nsince=50\\nmessage=\\n`
    root.write('/run/croft/unit', 'croft-job-install-1000')
    const job = async (answer: string) => {
      root.write('/run/croft/job', note('running').replaceAll('\\n', '\n'))
      root.write('/test-bin/systemctl', `#!/bin/sh\ncase "$*" in "show croft-job-"*) ${answer} ;; esac\n`, 0o755)
      const { clockMs, job } = await root.ask(['facts'])
      const { sinceMs, ...rest } = job as Record<string, unknown>
      return { ...rest, ageMs: Number(clockMs) - Number(sinceMs) }
    }
    const ageMs = (UP_TICKS - 50) * 10
    const ends = `printf '${note('done')}' >"$CROFT_ROOT/run/croft/job"; echo ActiveState=inactive`
    assert.deepEqual(await job(ends), { name: 'install', state: 'done', ageMs })
    assert.deepEqual(await job('echo ActiveState=inactive; echo Job=17'), { name: 'install', state: 'running', ageMs })
    assert.match(JSON.stringify(await job('echo ActiveState=inactive')), /it ended without a word/)
  })

  test('beside the program that runs: only the restart that is to run it puts it in place', async () => {
    const old = PROGRAM.replace(VERSION, 'v1.33.0+k3s1')
    root.write('/usr/local/bin/k3s', old, 0o755)
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    root.write('/opt/k3s', PROGRAM)
    const order = { version: VERSION, from: ['/opt/k3s'], sha256: sha256(PROGRAM), beside: true }
    assert.deepEqual(await root.ask(['install'], JSON.stringify(order)), { ok: true })
    const { version, fetched } = await root.ask(['facts'])
    assert.deepEqual([version, fetched], ['v1.33.0+k3s1', VERSION])
    assert.deepEqual(await root.ask(['restart']), { ok: true })
    assert.equal(root.read('/usr/local/bin/k3s'), old, 'any other restart runs the old one')
    for (const bad of ['v1.35.0+k3s1', 'v1;id', '../x', '$(id)'])
      assert.equal((await root.ask(['restart', bad])).ok, false, bad)
    for (let again = 0; again < 2; again++) assert.deepEqual(await root.ask(['restart', VERSION]), { ok: true })
    assert.equal(root.read('/usr/local/bin/k3s'), PROGRAM)
    const after = await root.ask(['facts'])
    assert.deepEqual([after.version, after.fetched], [VERSION, undefined])
  })

  test('[S-24] a program that is another one by the time of the exchange is deleted, and K3s is not restarted', async () => {
    const old = PROGRAM.replace(VERSION, 'v1.33.0+k3s1')
    const beside = `/usr/local/bin/.k3s-${VERSION}.croft`
    root.write('/usr/local/bin/k3s', old, 0o755)
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    root.write('/opt/k3s', PROGRAM)
    const order = JSON.stringify({ version: VERSION, from: ['/opt/k3s'], sha256: sha256(PROGRAM), beside: true })
    for (const words of [
      ['restart', VERSION, sha256(PROGRAM)],
      ['restart', VERSION],
    ]) {
      await root.ask(['install'], order)
      root.write(beside, `${PROGRAM}# another one`, 0o755)
      const { ok, error } = await root.ask(words)
      assert.deepEqual([ok, /another checksum than/.test(String(error))], [false, true], String(error))
      assert.ok(!root.has(beside), 'it is fetched again')
      assert.equal(root.read('/usr/local/bin/k3s'), old)
      assert.doesNotMatch(root.calls(), /restart --no-block/)
    }
    for (const sum of ['x', 'f'.repeat(63), '$(id)', `${'f'.repeat(64)};id`])
      assert.equal((await root.ask(['restart', VERSION, sum])).ok, false, sum)
    await root.ask(['install'], order)
    assert.equal((await root.ask(['restart', VERSION, 'f'.repeat(64)])).ok, false, 'the sum that croft names counts')
    await root.ask(['install'], order)
    assert.deepEqual(await root.ask(['restart', VERSION, sha256(PROGRAM)]), { ok: true })
    assert.equal(root.read('/usr/local/bin/k3s'), PROGRAM)
  })

  test('from a file that came with the image', async () => {
    root.write('/opt/k3s', PROGRAM)
    await install(['/opt/k3s'], sha256(PROGRAM))
    assert.equal(root.read('/usr/local/bin/k3s'), PROGRAM)
  })

  test('from the mirror when the first source is missing', async () => {
    await serving({ '/mirror/k3s': PROGRAM }, async (base) => {
      await install([`${base}/gone`, '/no/such/file', `${base}/mirror/k3s`], sha256(PROGRAM))
    })
    assert.equal(root.read('/usr/local/bin/k3s'), PROGRAM)
  })

  test('[S-24] a wrong, cut off or other program is refused before it is in place', async () => {
    root.write('/usr/local/bin/k3s', 'the old one', 0o755)
    const other = PROGRAM.replace(VERSION, 'v1.33.0+k3s1')
    await serving({ '/wrong': `${PROGRAM}#`, '/other': other }, async (base) => {
      assert.match(await failure([`${base}/wrong`], sha256(PROGRAM)), /another checksum/)
      assert.match(await failure([`${base}/other`], sha256(other)), /calls itself v1\.33\.0\+k3s1/)
    })
    const cut: RequestListener = (_, response) => {
      response.writeHead(200, { 'content-length': PROGRAM.length + 100 })
      response.write(PROGRAM)
      setTimeout(() => response.destroy(), 50)
    }
    await serving(cut, async (base) => {
      assert.notEqual(await failure([`${base}/cut`], sha256(PROGRAM)), '')
    })
    assert.equal(root.read('/usr/local/bin/k3s'), 'the old one')
    assert.ok(!root.has('/usr/local/bin/.k3s.croft-new'))
  })

  test('[S-24] an answer larger than any release is not taken', async () => {
    const huge: RequestListener = (_, response) => {
      response.writeHead(200, { 'content-length': 4 * 1024 * 1024 * 1024 })
      response.end('x')
    }
    await serving(huge, async (base) => {
      assert.notEqual(await failure([`${base}/huge`], sha256(PROGRAM)), '')
    })
    assert.ok(!root.has('/usr/local/bin/k3s'))
  })

  test('[S-01] an order that is not exactly one is refused', async () => {
    const order = (turn: object) =>
      JSON.stringify({ version: VERSION, from: ['/opt/k3s'], sha256: 'a'.repeat(64), ...turn })
    for (const turn of [{ version: 'v1.34.3+k3s1;id' }, { version: 'stable' }, { sha256: 'a' }, { from: [] }]) {
      assert.equal((await root.ask(['install'], order(turn))).ok, false, JSON.stringify(turn))
    }
    assert.match(await failure(['ftp://x/k3s', 'file:///etc/shadow'], 'a'.repeat(64)), /neither an address nor a file/)
  })

  async function install(from: readonly string[], sum: string): Promise<Record<string, unknown>> {
    return root.ask(['install'], JSON.stringify({ version: VERSION, from, sha256: sum }))
  }

  async function failure(from: readonly string[], sum: string): Promise<string> {
    await install(from, sum)
    const job = (await root.ask(['facts'])).job as { state: string; message?: string }
    assert.equal(job.state, 'failed')
    return job.message ?? ''
  }
})

describe('the service', () => {
  test('start writes the unit of its role, enables it and does not wait', async () => {
    root.write('/usr/local/bin/k3s', PROGRAM, 0o755)
    assert.deepEqual(await root.ask(['start'], '{"role":"server"}'), { ok: true })
    assert.match(root.read('/etc/systemd/system/k3s.service'), /ExecStart=\/usr\/local\/bin\/k3s server\n/)
    assert.match(root.calls(), /enable k3s\.service\n.*start --no-block k3s\.service/s)
    assert.deepEqual(await root.ask(['start'], '{"role":"agent"}'), { ok: true })
    assert.ok(!root.has('/etc/systemd/system/k3s.service'))
    assert.match(root.read('/etc/systemd/system/k3s-agent.service'), /k3s agent\n/)
  })

  test('[S-01] no other role, and no service without the program', async () => {
    assert.match(String((await root.ask(['start'], '{"role":"server"}')).error), /not installed/)
    root.write('/usr/local/bin/k3s', PROGRAM, 0o755)
    assert.equal((await root.ask(['start'], '{"role":"server; id"}')).ok, false)
  })

  test('stop also keeps it from coming back with the next boot; restart lets it', async () => {
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    await root.ask(['stop'])
    assert.match(root.calls(), /disable k3s\.service\n.*stop --no-block k3s\.service/s)
    await root.ask(['restart'])
    assert.match(root.calls(), /enable k3s\.service\n.*restart --no-block k3s\.service/s)
  })

  const states: readonly (readonly [string, string, string])[] = [
    ['running', 'ActiveState=active\nMainPID=77', 'running'],
    ['on its way', 'ActiveState=activating\nSubState=start\nMainPID=77', 'starting'],
    ['waiting for a gate', 'ActiveState=inactive\nJob=77', 'starting'],
    ['dying again and again', 'ActiveState=activating\nSubState=auto-restart\nNRestarts=3', 'failed'],
    ['failed', 'ActiveState=failed', 'failed'],
    ['stopped', 'ActiveState=inactive', 'stopped'],
  ]
  for (const [what, shown, expected] of states) {
    test(`facts of one that is ${what}`, async () => {
      root.write('/etc/systemd/system/k3s.service', '[Unit]')
      root.write('/units/k3s.service', `LoadState=loaded\n${shown}\n`)
      root.write('/proc/77/stat', processStat(77, 1, UP_TICKS - 10_050))
      const facts = await root.ask(['facts'])
      assert.equal(facts.service, expected)
      assert.equal(facts.role, 'server')
      if (expected === 'running') {
        const ago = Number(facts.clockMs) - Number(facts.serviceSinceMs)
        assert.equal(ago, 100_500)
      }
    })
  }

  test('a start that systemd repeats counts from our own call', async () => {
    root.write('/usr/local/bin/k3s', PROGRAM, 0o755)
    await root.ask(['start'], '{"role":"server"}')
    root.write('/proc/77/stat', processStat(77, 1, UP_TICKS + 29_500))
    root.write('/proc/self/stat', processStat(9, 1, UP_TICKS + 30_000))
    root.write('/units/k3s.service', 'LoadState=loaded\nActiveState=activating\nSubState=start\nMainPID=77\n')
    const { clockMs, serviceSinceMs } = await root.ask(['facts'])
    assert.equal(Number(clockMs) - Number(serviceSinceMs), 300_000)
  })

  test('the last fatal line of the journal is told, without control characters', async () => {
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    root.write('/units/k3s.service', 'LoadState=loaded\nActiveState=failed\n')
    root.write('/journal', 'level=info msg="x"\nlevel=fatal msg="Error: \\"a\\" \u001b[31mnot authorized"\n')
    assert.equal((await root.ask(['facts'])).failure, 'Error: "a" [31mnot authorized')
  })

  test('a refusal because of a setting names the setting, which stands in a warning before it', async () => {
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    root.write('/units/k3s.service', 'LoadState=loaded\nActiveState=failed\n')
    root.write(
      '/journal',
      'level=warning msg="critical configuration mismatched: ClusterIPRanges.slice[0].IP.slice[13]"\n' +
        'level=fatal msg="Error: preparing server: critical configuration value mismatch between servers"\n',
    )
    assert.equal(
      (await root.ask(['facts'])).failure,
      'Error: preparing server: critical configuration value mismatch between servers (critical configuration mismatched: ClusterIPRanges)',
    )
  })
})

describe('facts', () => {
  test('of a clean machine', async () => {
    const facts = await root.ask(['facts'])
    assert.deepEqual(
      { ...facts, clockMs: 0, architecture: '' },
      {
        machineId: '0123456789abcdef0123456789abcdef',
        hostname: 's1',
        bootId: '11111111-2222-3333-4444-555555555555',
        clockMs: 0,
        begins: false,
        architecture: '',
        cloudInit: 'absent',
        service: 'absent',
        serviceSinceMs: 0,
        wipes: 0,
        files: {},
        data: 'none',
        mixedCa: false,
        gates: [],
        snapshots: [],
      },
    )
  })

  test('cloud-init: running, done, failed', async () => {
    root.write('/run/cloud-init/enabled', '')
    assert.equal((await root.ask(['facts'])).cloudInit, 'running')
    root.write('/run/cloud-init/result.json', '{\n "v1": {\n  "datasource": "x",\n  "errors": []\n }\n}\n')
    assert.equal((await root.ask(['facts'])).cloudInit, 'done')
    root.write('/run/cloud-init/result.json', '{"v1": {"errors": ["could not run runcmd"]}}')
    const facts = await root.ask(['facts'])
    assert.deepEqual([facts.cloudInit, facts.cloudInitError], ['error', 'could not run runcmd'])
  })

  test('images that came with the disk are not data of a cluster; anything else without a CA is unreadable', async () => {
    root.write('/var/lib/rancher/k3s/agent/images/airgap.tar.zst', 'x')
    assert.equal((await root.ask(['facts'])).data, 'none')
    root.write('/var/lib/rancher/k3s/server/db/etcd/name', 's1-1234')
    assert.equal((await root.ask(['facts'])).data, 'other')
  })

  test('[R20-7] the empty directories of a join that has only just begun are no data; a file in them is', async () => {
    const server = path.join(root.directory, 'var/lib/rancher/k3s/server')
    for (const folder of ['tls/etcd', 'cred', 'db/etcd']) mkdirSync(path.join(server, folder), { recursive: true })
    assert.equal((await root.ask(['facts'])).data, 'none')
    root.write('/var/lib/rancher/k3s/server/tls/etcd/peer-ca.crt', 'x')
    assert.equal((await root.ask(['facts'])).data, 'other')
  })

  test('[S-48] no name or path of a snapshot leads anywhere else, or is a command', async () => {
    const names = [
      '',
      '..',
      '../x',
      '/etc/passwd',
      '-x',
      '.hidden',
      'a b',
      'a;id',
      '$(id)',
      '`id`',
      'a\nb',
      "a'b",
      'a"b',
      'ä',
      '*',
    ]
    for (const name of names) assert.equal((await root.ask(['snapshot', name])).ok, false, name)
    root.write('/etc/shadow', 'x')
    const snapshots = '/var/lib/rancher/k3s/server/db/snapshots'
    for (const file of [
      `${snapshots}/../../../../../../../etc/shadow`,
      '$(id)',
      '/etc/sh*dow',
      'relative',
      '/a;id',
      '/a b',
    ])
      assert.equal((await root.ask(['restore'], JSON.stringify({ snapshot: file }))).ok, false, file)
  })

  test('where a server keeps its data, by what lies there and what it was told', async () => {
    const kept = async () => (await root.ask(['facts'])).datastore
    assert.equal(await kept(), undefined)
    root.write('/var/lib/rancher/k3s/server/db/state.db', 'SQLite format 3')
    assert.equal(await kept(), 'sqlite')
    root.write('/var/lib/rancher/k3s/server/db/etcd/member/wal/0.wal', 'x')
    assert.equal(await kept(), 'etcd')
    root.write('/etc/rancher/k3s/config.yaml', '# datastore-endpoint: none\nnode-name: s1\n')
    assert.equal(await kept(), 'etcd')
    for (const [file, text] of [
      ['/etc/rancher/k3s/config.yaml', 'datastore-endpoint: "postgres://db/k3s"\n'],
      ['/etc/rancher/k3s/config.yaml.d/db.yaml', 'datastore-endpoint: mysql://db\n'],
      ['/etc/systemd/system/k3s.service.env', "K3S_DATASTORE_ENDPOINT='postgres://db/k3s'\n"],
      [
        '/etc/systemd/system/k3s.service',
        'ExecStart=/usr/local/bin/k3s server --datastore-endpoint=postgres://db/k3s\n',
      ],
    ] as const) {
      root.write(file, text)
      assert.equal(await kept(), 'external', file)
      root.write(file, '')
    }
  })

  test('gates, snapshots and the hash of the configuration', async () => {
    root.write('/run/croft/gates.json', '[{"name":"dns","message":"no answer","sinceMs":1000}]\n')
    root.write('/etc/rancher/k3s/config.yaml', '# croft: 0123456789abcdef\n"etcd-snapshot-dir": "/srv/snapshots"\n')
    root.write('/srv/snapshots/on-demand-s1-1', 'xyz')
    root.write('/srv/snapshots/$(touch x)', 'xyz')
    const facts = await root.ask(['facts'])
    assert.deepEqual(facts.gates, [{ name: 'dns', message: 'no answer', sinceMs: 1000 }])
    assert.equal(facts.configHash, '0123456789abcdef')
    const [snapshot, ...others] = facts.snapshots as { name: string; path: string; bytes: number }[]
    assert.deepEqual(others, [])
    assert.deepEqual(
      [snapshot?.name, snapshot?.path, snapshot?.bytes],
      ['on-demand-s1-1', '/srv/snapshots/on-demand-s1-1', 3],
    )
  })

  test('a snapshot that K3s prunes during the look is left out, and the answer stays whole', async () => {
    root.write('/etc/rancher/k3s/config.yaml', '"etcd-snapshot-dir": "/srv/snapshots"\n')
    for (const name of ['a', 'gone', 'z']) root.write(`/srv/snapshots/${name}`, 'xyz')
    root.write('/test-bin/stat', '#!/bin/sh\nrm -f "$CROFT_ROOT/srv/snapshots/gone"\nexec /usr/bin/stat "$@"\n', 0o755)
    const { snapshots } = await root.ask(['facts'])
    assert.deepEqual(
      (snapshots as { name: string }[]).map(({ name }) => name),
      ['a', 'z'],
    )
  })

  test('a share that hangs costs seconds, and everything else is told', async () => {
    root.write('/etc/rancher/k3s/config.yaml', '# croft: 0123456789abcdef\n"etcd-snapshot-dir": "/srv/snapshots"\n')
    root.write('/srv/snapshots/a', 'xyz')
    root.write('/test-bin/stat', '#!/bin/sh\ncase $* in *%n*) exec sleep 100 ;; esac\nexec /usr/bin/stat "$@"\n', 0o755)
    const before = process.hrtime.bigint()
    const { snapshots, configHash } = await root.ask(['facts'])
    assert.deepEqual([snapshots, configHash], [[], '0123456789abcdef'])
    assert.ok(process.hrtime.bigint() - before < 30_000_000_000n)
  })

  test('etcd: members with ids of whole 64 bits, the leader, and which of them is this one', async () => {
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    root.write('/units/k3s.service', 'LoadState=loaded\nActiveState=active\n')
    root.write('/var/lib/rancher/k3s/server/tls/etcd/client.crt', 'x')
    const members =
      '{"header":{"cluster_id":"1","member_id":"5851246719604577813"},"members":[{"ID":"5851246719604577813","name":"s1-7f2ad18f","peerURLs":["https://10.67.0.1:2380"]},{"ID":"11105393668318932283","name":"s2-b6848674","isLearner":true}]}'
    const status =
      '{"header":{"member_id":"5851246719604577813"},"version":"3.6.14","dbSize":"4214784","leader":"5851246719604577813","dbSizeInUse":"1654784"}'
    root.write('/members', members)
    root.write('/status', status)
    root.write(
      '/test-bin/curl',
      '#!/bin/sh\ncase "$*" in *:2382/v3/cluster/member/list*) cat "$CROFT_ROOT/members" ;; *:2382/v3/maintenance/status*) cat "$CROFT_ROOT/status" ;; *remove*) echo "curl $*" >>"$CROFT_ROOT/calls" ;; *) exit 7 ;; esac\n',
      0o755,
    )
    const { answerMs, ...etcd } = (await root.ask(['facts'])).etcd as Record<string, unknown>
    assert.ok(typeof answerMs === 'number' && answerMs >= 0, `answered in ${String(answerMs)} ms`)
    assert.deepEqual(etcd, {
      members: [
        { id: '5133cde3e7335615', name: 's1-7f2ad18f', learner: false },
        { id: '9a1e48b3d305ad3b', name: 's2-b6848674', learner: true },
      ],
      leader: '5133cde3e7335615',
      self: '5133cde3e7335615',
      version: '3.6.14',
      bytes: 4_214_784,
    })
    assert.deepEqual(await root.ask(['remove-member', '9a1e48b3d305ad3b']), { ok: true })
    assert.match(
      root.calls(),
      /-d \{"ID":"11105393668318932283"\} https:\/\/127\.0\.0\.1:2382\/v3\/cluster\/member\/remove/,
    )
    // Removing an absent member succeeds; an invalid id is refused.
    assert.deepEqual(await root.ask(['remove-member', 'abc']), { ok: true })
    assert.equal((await root.ask(['remove-member', '$(id)'])).ok, false)
  })
})

describe('leave', () => {
  const LEFT = ['/etc/croft/gates', '/etc/systemd/system/croft-gates.service', '/usr/local/lib/croft/gates']
  const DROP_INS = ['k3s', 'k3s-agent'].map((unit) => `/etc/systemd/system/${unit}.service.d/10-croft-gates.conf`)

  test('takes gates, program and notes off a node, and neither stops nor starts K3s', async () => {
    for (const file of [...LEFT, ...DROP_INS]) root.write(file, 'x')
    root.write('/etc/systemd/system/k3s.service', '[Unit]\n')
    root.write('/etc/systemd/system/k3s.service.d/20-person.conf', '[Service]\n')
    root.write('/usr/local/bin/.k3s-v1.35.0+k3s1.croft', 'x')
    root.write('/run/croft/gates.json', '[]')
    root.write('/etc/sysctl.d/90-croft-k3s.conf', 'net.ipv4.ip_forward = 1\n')
    root.write('/etc/modules-load.d/croft-k3s.conf', 'overlay\n')
    root.write('/etc/modules-load.d/k3s.conf', 'of a person\n')
    root.write('/etc/rancher/k3s/config.yaml', '# croft: 0123456789abcdef\n"node-name": "s1"\n', 0o600)
    const program = root.read('/usr/local/lib/croft/node')
    assert.deepEqual(await root.ask(['leave']), { ok: true })
    for (const file of [...LEFT, ...DROP_INS, '/usr/local/lib/croft', '/run/croft', '/etc/croft'])
      assert.ok(!root.has(file), file)
    assert.ok(
      !root.has('/etc/systemd/system/k3s-agent.service.d') && !root.has('/usr/local/bin/.k3s-v1.35.0+k3s1.croft'),
    )
    assert.ok(
      root.has('/etc/systemd/system/k3s.service') && root.has('/etc/systemd/system/k3s.service.d/20-person.conf'),
    )
    assert.equal(root.read('/etc/sysctl.d/90-k3s.conf'), 'net.ipv4.ip_forward = 1\n')
    assert.equal(root.read('/etc/modules-load.d/k3s.conf'), 'of a person\n', 'what a person wrote stays')
    assert.equal(root.read('/etc/rancher/k3s/config.yaml'), '"node-name": "s1"\n')
    assert.equal(statSync(path.join(root.directory, '/etc/rancher/k3s/config.yaml')).mode & 0o777, 0o600)
    const calls = root.calls().split('\n')
    assert.ok(!calls.some((call) => /systemctl (?:stop|start|restart|disable --now)/.test(call)), root.calls())
    assert.ok(calls.indexOf('systemctl daemon-reload') < calls.indexOf('systemctl disable croft-gates.service'))
    // A second run, with the program brought again, finds nothing to do.
    root.write('/usr/local/lib/croft/node', program, 0o755)
    assert.deepEqual(await root.ask(['leave']), { ok: true })
    assert.equal(root.read('/etc/rancher/k3s/config.yaml'), '"node-name": "s1"\n')
  })

  test('waits for a job that runs', async () => {
    root.write('/run/croft/unit', 'croft-job-install-1000')
    root.write('/run/croft/job', 'name=install\nstate=running\nsince=50\nmessage=\n')
    root.write('/test-bin/systemctl', '#!/bin/sh\necho ActiveState=active\n', 0o755)
    const { ok, error } = await root.ask(['leave'])
    assert.equal(ok, false)
    assert.match(String(error), /the job install is still running/)
    assert.ok(root.has('/usr/local/lib/croft/node'))
  })
})

describe('wipe, restore, forget-db', () => {
  test('wipe takes everything of K3s and leaves images that came with the disk', async () => {
    root.write('/etc/rancher/node/password', 'x')
    root.write('/etc/rancher/k3s/token', 'x')
    root.write('/var/lib/rancher/k3s/server/db/etcd/name', 'x')
    root.write('/var/lib/rancher/k3s/agent/client-kubelet.crt', 'x')
    root.write('/var/lib/rancher/k3s/agent/images/a.tar', 'x')
    root.write('/etc/systemd/system/k3s.service', '[Unit]')
    await root.ask(['wipe'])
    const facts = await root.ask(['facts'])
    assert.deepEqual([facts.data, facts.service, (facts.job as { state: string }).state], ['none', 'absent', 'done'])
    assert.ok(!root.has('/etc/rancher') && root.has('/var/lib/rancher/k3s/agent/images/a.tar'))
    assert.equal(facts.wipes, 1, 'an order to replace this node is over')
  })

  test('facts never say that a wipe is done beside the data from before its end', async () => {
    const note = (state: string) => `name=wipe\nstate=${state}\nsince=1\nmessage=\n`
    root.write('/run/croft/job', note('running'))
    root.write('/run/croft/unit', 'croft-job-wipe-1')
    root.write('/units/croft-job-wipe-1.service', 'ActiveState=activating\n')
    root.write('/run/croft/job.end', note('done'))
    root.write('/var/lib/rancher/k3s/server/tls/server-ca.crt', 'x')
    root.write('/var/lib/rancher/k3s/server/tls/serving-kube-apiserver.crt', 'x')
    // Asked after the hash of the CA was read: the wipe ends here.
    root.write(
      '/test-bin/openssl',
      '#!/bin/sh\nif [ -e "$CROFT_ROOT/run/croft/job.end" ]; then rm -rf "$CROFT_ROOT/var/lib/rancher"; mv "$CROFT_ROOT/run/croft/job.end" "$CROFT_ROOT/run/croft/job"; fi\n',
      0o755,
    )
    const during = await root.ask(['facts'])
    assert.ok(!root.has('/run/croft/job.end'), 'the wipe ended while the facts were read')
    assert.notEqual(during.data, 'none')
    assert.equal((during.job as { state: string }).state, 'running')
    const after = await root.ask(['facts'])
    assert.deepEqual([after.data, (after.job as { state: string }).state], ['none', 'done'])
  })

  test('wipe deletes nothing while a volume is still mounted', async () => {
    const volume = `${root.directory}/var/lib/kubelet/pods/x/volumes/nfs`
    root.write('/proc/self/mounts', `nas:/tank ${volume} nfs rw 0 0\n`)
    root.write('/var/lib/kubelet/pods/x/volumes/nfs/precious', 'x')
    root.write('/etc/rancher/node/password', 'x')
    await root.ask(['wipe'])
    const job = (await root.ask(['facts'])).job as { state: string; message?: string }
    assert.equal(job.state, 'failed')
    assert.match(job.message ?? '', /still mounted, so nothing was deleted/)
    assert.ok(root.has('/var/lib/kubelet/pods/x/volumes/nfs/precious') && root.has('/etc/rancher/node/password'))
  })

  test('restore goes by the words of K3s, without the address of another server', async () => {
    root.write(
      '/usr/local/bin/k3s',
      '#!/bin/sh\necho "$*" >>"$CROFT_ROOT/calls"\ncat "$3" >>"$CROFT_ROOT/calls"\necho "level=error msg=\\"Managed etcd cluster membership has been reset, restart without\\""\n',
      0o755,
    )
    root.write('/etc/rancher/k3s/config.yaml', '"node-name": "s1"\n"server": "https://10.0.0.9:6443"\n')
    root.write('/var/lib/rancher/k3s/server/db/snapshots/a', 'x')
    const order = JSON.stringify({ snapshot: '/var/lib/rancher/k3s/server/db/snapshots/a' })
    assert.deepEqual(await root.ask(['restore'], order), { ok: true })
    assert.equal(((await root.ask(['facts'])).job as { state: string }).state, 'done')
    assert.match(root.calls(), /--cluster-reset --cluster-reset-restore-path=.*snapshots\/a/)
    assert.match(root.calls(), /"node-name": "s1"/)
    assert.doesNotMatch(root.calls(), /10\.0\.0\.9/)
  })

  test('[R20-3] restore hands the token over by the environment, never as an argument or in a file of its own', async () => {
    root.write(
      '/usr/local/bin/k3s',
      '#!/bin/sh\necho "$*" >>"$CROFT_ROOT/calls"\n[ -n "$K3S_TOKEN" ] && echo "$K3S_TOKEN" >"$CROFT_ROOT/token-seen"\ncat "$3" >>"$CROFT_ROOT/calls"\necho "level=error msg=\\"Managed etcd cluster membership has been reset, restart without\\""\n',
      0o755,
    )
    root.write('/etc/rancher/k3s/config.yaml', '"token-file": "/etc/rancher/k3s/token"\n')
    root.write('/etc/rancher/k3s/token', 'K10abc::server:secretsecretsecret\n', 0o600)
    root.write('/srv/a', 'x')
    assert.deepEqual(await root.ask(['restore'], JSON.stringify({ snapshot: '/srv/a' })), { ok: true })
    assert.equal(((await root.ask(['facts'])).job as { state: string }).state, 'done')
    assert.equal(root.read('/token-seen'), 'K10abc::server:secretsecretsecret\n')
    assert.doesNotMatch(root.calls(), /secretsecret/)
    assert.ok(!root.has('/run/croft/restore.yaml') && !root.read('/run/croft/restore.log').includes('secretsecret'))
  })

  test('restore refuses a missing snapshot, another path and a server that still runs', async () => {
    const ask = (snapshot: string) => root.ask(['restore'], JSON.stringify({ snapshot }))
    assert.match(String((await ask('/no/such')).error), /no snapshot/)
    assert.equal((await ask('/a/../../etc/shadow')).ok, false)
    root.write('/srv/a', 'x')
    root.write('/units/k3s.service', 'LoadState=loaded\nActiveState=active\n')
    assert.match(String((await ask('/srv/a')).error), /still runs/)
  })

  test('[R20-6] forget-db removes etcd and all that K3s compares with its datastore, and keeps the snapshots', async () => {
    for (const file of [
      'db/etcd/name',
      'db/snapshots/a',
      'tls/server-ca.crt',
      'tls/etcd/peer-ca.crt',
      'cred/passwd',
      'token',
    ])
      root.write(`/var/lib/rancher/k3s/server/${file}`, 'x')
    assert.deepEqual(await root.ask(['forget-db']), { ok: true })
    for (const gone of ['db/etcd', 'tls', 'cred']) assert.ok(!root.has(`/var/lib/rancher/k3s/server/${gone}`), gone)
    assert.ok(root.has('/var/lib/rancher/k3s/server/db/snapshots/a') && root.has('/var/lib/rancher/k3s/server/token'))
  })

  test('[R20-5] a file goes from node to node in pieces, into a directory that is not there, and counts when its checksum is right', async () => {
    const other = nodeRoot()
    try {
      const bytes = randomBytes(700_001)
      mkdirSync(path.join(root.directory, 'srv'), { recursive: true })
      writeFileSync(path.join(root.directory, 'srv/a'), bytes)
      const to = '/var/lib/rancher/k3s/server/db/snapshots/a'
      const measured = await root.ask(['measure', '/srv/a'])
      assert.deepEqual(measured, { ok: true, bytes: 700_001, sha256: createHash('sha256').update(bytes).digest('hex') })
      for (let at = 0; at < bytes.length; at += 300_000) {
        const { base64 } = await root.ask(['piece', '/srv/a', String(at), '300000'])
        const taken = await other.ask(['take', to, String(at)], String(base64))
        assert.deepEqual(taken, { ok: true, bytes: Math.min(at + 300_000, bytes.length) })
      }
      assert.equal((await other.ask(['taken', to])).bytes, 700_001)
      assert.ok(!other.has(to))
      assert.deepEqual(await other.ask(['keep', to, String(measured.sha256)]), { ok: true })
      assert.deepEqual(readFileSync(path.join(other.directory, to)), bytes)
      assert.equal(statSync(path.join(other.directory, to)).mode & 0o777, 0o600)
      const wrong = await other.ask(['take', to, '5'], 'AAAA')
      assert.match(String(wrong.error), /0 bytes .* are here, and a piece from 5 was sent/)
      await other.ask(['take', to, '0'], 'AAAA')
      assert.match(String((await other.ask(['keep', to, 'f'.repeat(64)])).error), /another checksum/)
      assert.deepEqual(readFileSync(path.join(other.directory, to)), bytes, 'what was there stays')
      assert.match(String((await other.ask(['take', to, '0'], '!!!')).error), /could not be written/)
      assert.equal((await other.ask(['taken', to])).bytes, 0)
    } finally {
      other.remove()
    }
  })

  test('a snapshot says which token opens it: the newest bootstrap key that was not deleted', async () => {
    const [first, second] = ['23e0bf16a823', 'a1b2c3d4e5f6']
    const files: readonly (readonly [string, readonly Uint8Array[], string | undefined])[] = [
      ['fresh', [etcdPut(2, first)], first],
      ['rewritten', [etcdPut(700, first), etcdPut(2, first)], first],
      ['rotated', [etcdPut(2, first), etcdPut(95, second), etcdDelete(96, first)], second],
      ['rotated-page-order', [etcdDelete(0x5f74, first), etcdPut(0x5f73, second), etcdPut(2, first)], second],
      ['rotated-and-compacted', [etcdPut(300, second), etcdPut(2, first)], second],
      ['back-again', [etcdPut(2, first), etcdDelete(9, first), etcdPut(8, second), etcdPut(20, first)], first],
      ['none', [Buffer.from('\n\x17/registry/bootstrap/x\n/bootstrap/23e0bf16a823')], undefined],
    ]
    for (const [name, parts, hash] of files) {
      const bytes = Buffer.concat([Buffer.alloc(64), ...parts.flatMap((part) => [part, Buffer.alloc(9)])])
      for (const [ending, content] of [
        ['', bytes],
        ['.zip', zipped(bytes)],
      ] as const) {
        mkdirSync(path.join(root.directory, 'srv'), { recursive: true })
        writeFileSync(path.join(root.directory, 'srv', name + ending), content)
        const answer = await root.ask(['token-of', `/srv/${name}${ending}`])
        if (hash === undefined) assert.match(String(answer.error), /does not say which token/, name)
        else assert.deepEqual(answer, { ok: true, tokenHash: hash }, name + ending)
        assert.ok(!root.has('/srv/.croft-unpacked'))
      }
    }
    writeFileSync(path.join(root.directory, 'srv/broken.zip'), 'PK?')
    assert.match(String((await root.ask(['token-of', '/srv/broken.zip'])).error), /could not be unpacked/)
    for (const from of ['relative', '/a/../b', '/no/such', '', '/srv/$(id)'])
      assert.equal((await root.ask(['token-of', from])).ok, false, from)
  })

  test('[S-57] a link that waits beside a packed snapshot is no place that root writes to', async () => {
    const bytes = Buffer.concat([Buffer.alloc(64), etcdPut(2, 'a'.repeat(12)), Buffer.alloc(9)])
    mkdirSync(path.join(root.directory, 'srv'), { recursive: true })
    writeFileSync(path.join(root.directory, 'srv/a.zip'), zipped(bytes))
    const victim = path.join(root.directory, 'victim')
    for (const there of [true, false]) {
      if (there) writeFileSync(victim, 'as it was')
      else rmSync(victim)
      symlinkSync(victim, path.join(root.directory, 'srv/.croft-unpacked'))
      assert.deepEqual(await root.ask(['token-of', '/srv/a.zip']), { ok: true, tokenHash: 'a'.repeat(12) })
      if (there) assert.equal(readFileSync(victim, 'utf8'), 'as it was')
      else assert.ok(!existsSync(victim))
      assert.ok(!root.has('/srv/.croft-unpacked'))
    }
  })

  test('[S-15] pieces are taken among the snapshots alone, and only whole paths are read', async () => {
    for (const to of [
      '/etc/shadow',
      '/var/lib/rancher/k3s/server/db/snapshots/../x',
      '/var/lib/rancher/k3s/server/db/snapshots/a/b',
      '$(id)',
    ])
      assert.equal((await root.ask(['take', to, '0'], 'AAAA')).ok, false, to)
    for (const from of ['relative', '/a/../b', '/no/such', ''])
      assert.equal((await root.ask(['measure', from])).ok, false)
    root.write('/srv/a', 'x')
    assert.equal((await root.ask(['piece', '/srv/a', '$(id)', '1'])).ok, false)
  })

  test('[R20-5] a restore says nothing of S3 to K3s: the file is here', async () => {
    root.write(
      '/usr/local/bin/k3s',
      '#!/bin/sh\ncat "$3" >"$CROFT_ROOT/config-seen"\necho "level=error msg=\\"Managed etcd cluster membership has been reset, restart without\\""\n',
      0o755,
    )
    root.write('/etc/rancher/k3s/config.yaml', '"etcd-s3": true\n"etcd-s3-config-secret": "x"\n"node-name": "s1"\n')
    root.write('/srv/a', 'x')
    await root.ask(['restore'], JSON.stringify({ snapshot: '/srv/a' }))
    assert.equal(root.read('/config-seen'), '"node-name": "s1"\n')
  })

  test('[R20-5] K3s gets a snapshot from S3 itself: its keys are in a file of root for so long, and never an argument', async () => {
    root.write(
      '/usr/local/bin/k3s',
      '#!/bin/sh\necho "$*" >>"$CROFT_ROOT/calls"\ncat "$3" >"$CROFT_ROOT/config-seen"\nstat -c %a "$3" >"$CROFT_ROOT/mode-seen"\necho "level=error msg=\\"Managed etcd cluster membership has been reset, restart without\\""\n',
      0o755,
    )
    root.write('/etc/rancher/k3s/config.yaml', '"etcd-s3": true\n"etcd-s3-config-secret": "x"\n"node-name": "s1"\n')
    const target = { endpoint: 'http://minio.lan:9000', bucket: 'b', folder: 'a/b', credentials: { env: 'X' } }
    const order = (text: string, snapshot = 'etcd-snapshot-s1-1') =>
      JSON.stringify({ snapshot, s3: Buffer.from(text).toString('base64') })
    const lines = s3Lines(target, 'AKIA:se"cr\\et/k+y=')
    assert.deepEqual(await root.ask(['restore'], order(`${lines}"cluster-init": true\nserver: x\n`)), { ok: true })
    assert.match(root.calls(), /--cluster-reset-restore-path=etcd-snapshot-s1-1$/m)
    assert.doesNotMatch(root.calls(), /AKIA/)
    assert.equal(root.read('/mode-seen'), '600\n')
    assert.deepEqual(parse(root.read('/config-seen')), {
      'node-name': 's1',
      'etcd-s3': true,
      'etcd-s3-insecure': true,
      'etcd-s3-endpoint': 'minio.lan:9000',
      'etcd-s3-bucket': 'b',
      'etcd-s3-folder': 'a/b',
      'etcd-s3-access-key': 'AKIA',
      'etcd-s3-secret-key': 'se"cr\\et/k+y=',
    })
    assert.ok(
      !root.has('/run/croft/restore.yaml') && !root.has('/run/croft/restore-s3.yaml') && !root.has('/run/croft/order'),
    )
    for (const name of ['../x', '/srv/a', '$(id)', '-x'])
      assert.equal((await root.ask(['restore'], order(lines, name))).ok, false, name)
    root.write('/srv/a', 'x')
    await root.ask(['restore'], JSON.stringify({ snapshot: '/srv/a' }))
    assert.equal(root.read('/config-seen'), '"node-name": "s1"\n', 'a later restore of a file says nothing of S3')
  })

  test('[R20-5] backups are listed in a directory, and on a share that is mounted read-only for the question alone', async () => {
    root.write('/srv/etcd/etcd-snapshot-s1-1', 'xyz')
    const told = await root.ask(['backups', '/srv/etcd'])
    const files = told.snapshots as { name: string; path: string; bytes: number }[]
    assert.deepEqual(
      files.map(({ name, path: at, bytes }) => [name, at, bytes]),
      [['etcd-snapshot-s1-1', '/srv/etcd/etcd-snapshot-s1-1', 3]],
    )
    assert.deepEqual((await root.ask(['backups', '/no/such'])).snapshots, [])
    const bytes = Buffer.concat([Buffer.alloc(64), etcdPut(2, 'a'.repeat(12)), Buffer.alloc(9)])
    writeFileSync(path.join(root.directory, 'on-nas'), bytes)
    root.write('/test-bin/umount', '#!/bin/sh\necho "umount $*" >>"$CROFT_ROOT/calls"\nrm -f "$1"/*\n', 0o755)
    root.write(
      '/test-bin/mount',
      '#!/bin/sh\necho "mount $*" >>"$CROFT_ROOT/calls"\ncase $5 in nas:/backup) cp "$CROFT_ROOT/on-nas" "$6/kept" ;; *) echo "access denied by server"; exit 32 ;; esac\n',
      0o755,
    )
    const share = await root.ask(['backups', 'nas:/backup'])
    assert.deepEqual(
      (share.snapshots as typeof files).map(({ path: at }) => at),
      ['/croft/backup/kept'],
    )
    assert.deepEqual(await root.ask(['token-of', '/croft/backup/kept', 'nas:/backup']), {
      ok: true,
      tokenHash: 'a'.repeat(12),
    })
    assert.equal(root.calls().match(/^mount -t nfs -o ro,soft,timeo=100 nas:\/backup /gm)?.length, 2)
    assert.equal(root.calls().match(/^umount /gm)?.length, 2)
    assert.match(
      String((await root.ask(['backups', 'nas:/other'])).error),
      /nas:\/other could not be mounted: access denied/,
    )
    for (const bad of ['', 'relative', '-o:/x', '/a/../b', '$(id):/x', 'nas:x y'])
      assert.equal((await root.ask(['backups', bad])).ok, false, bad)
  })

  test('[R20-10] a job after a job has a unit of its own: one that stays loaded keeps nothing from starting', async () => {
    root.write('/usr/local/bin/k3s', '#!/bin/sh\nexit 0\n', 0o755)
    for (const name of ['one', 'two', 'three']) {
      assert.deepEqual(await root.ask(['snapshot', name]), { ok: true })
      assert.equal(((await root.ask(['facts'])).job as { state: string }).state, 'done')
    }
    const units = root.read('/loaded').trim().split('\n')
    assert.equal(new Set(units).size, 3)
    for (const unit of units) assert.match(unit, /^croft-job-snapshot-\d+-\d+$/)
  })

  test("a snapshot makes room first: the oldest of croft on this node go, and nobody else's", async () => {
    root.write('/usr/local/bin/k3s', '#!/bin/sh\necho "k3s $*" >>"$CROFT_ROOT/calls"\n', 0o755)
    root.write('/etc/rancher/k3s/config.yaml', '# croft: 0123456789abcdef\n"node-name": "s.1"\n')
    const own = Array.from({ length: OWN_SNAPSHOTS + 1 }, (_, index) => `croft-180000000${index}-s.1-180000001${index}`)
    const others = [
      'croft-mine',
      'croft-1800000000-s2-1800000009',
      'croft-1800000000-sx1-1800000009',
      'etcd-snapshot-s.1-1',
    ]
    for (const name of [...own, ...others]) root.write(`/var/lib/rancher/k3s/server/db/snapshots/${name}`, 'x')
    assert.deepEqual(await root.ask(['snapshot', 'croft-1800000099']), { ok: true })
    const calls = root
      .calls()
      .split('\n')
      .filter((line) => line.startsWith('k3s '))
    assert.deepEqual(calls, [
      `k3s etcd-snapshot delete ${own[1]} ${own[0]}`,
      'k3s etcd-snapshot save --name croft-1800000099',
    ])
  })

  test('[S-01] names of snapshots and verbs are matched, not run', async () => {
    for (const name of ['$(touch /tmp/croft-canary)', '-x', '../x', '']) {
      assert.equal((await root.ask(['snapshot', name])).ok, false, name)
    }
    assert.equal((await root.ask(['job', '$(id)'])).ok, false)
    assert.equal((await root.ask(['$(id)'])).ok, false)
  })
})

describe('the CA on the disk', () => {
  const TLS = '/var/lib/rancher/k3s/server/tls'
  const secrets = makeClusterSecrets({
    cluster: 'homelab',
    firstServer: 's1',
    nowMs: Date.now(),
    randomBytes: (count) => Buffer.alloc(count, 7),
  })
  const file = (name: string) => secrets.files.get(name)?.reveal() ?? ''

  const read = async () => {
    const facts = readFacts(await root.ask(['facts']))
    assert.ok(facts)
    return facts
  }

  test('is named by the hash that stands in the token, of a chain and of a single certificate', async () => {
    root.write(`${TLS}/server-ca.crt`, file('server-ca.crt'))
    const { data, mixedCa } = await read()
    assert.deepEqual([data, mixedCa], [secrets.caHash, false])
    const single = `${file('server-ca.crt').split('-----END CERTIFICATE-----\n')[0]}-----END CERTIFICATE-----\n`
    root.write(`${TLS}/server-ca.crt`, single)
    assert.equal((await read()).data, caHash(Buffer.from(single), Date.now()))
    root.write(`${TLS}/server-ca.crt`, 'no certificate')
    assert.equal((await read()).data, 'other')
  })

  test('an agent keeps a copy of it', async () => {
    root.write('/var/lib/rancher/k3s/agent/server-ca.crt', file('server-ca.crt'))
    assert.equal((await read()).data, secrets.caHash)
  })

  test('[A7] a leaf of another CA, or another copy, is a mixed disk', async () => {
    const leaf = adminCredentials(secrets, Date.now())?.certificatePem ?? ''
    root.write(`${TLS}/server-ca.crt`, file('server-ca.crt'))
    root.write(`${TLS}/client-ca.crt`, file('client-ca.crt'))
    root.write(`${TLS}/client-admin.crt`, leaf)
    assert.equal((await read()).mixedCa, false)
    root.write(`${TLS}/client-ca.crt`, file('etcd/peer-ca.crt'))
    assert.equal((await read()).mixedCa, true)
    root.write(`${TLS}/client-ca.crt`, file('client-ca.crt'))
    root.write('/var/lib/rancher/k3s/agent/server-ca.crt', file('client-ca.crt'))
    assert.equal((await read()).mixedCa, true)
  })

  test('says when its certificates end, where there is a program to read them', async () => {
    const untilMs = Date.UTC(2031, 0, 7, 8, 9, 10)
    const leaf = adminCredentials(secrets, Date.now(), untilMs - Date.now())?.certificatePem ?? ''
    root.write(`${TLS}/client-admin.crt`, leaf)
    root.write('/var/lib/rancher/k3s/agent/client-kubelet.crt', 'not a certificate')
    const { certificatesEnd } = await root.ask(['facts'])
    assert.deepEqual(certificatesEnd, ['Jan  7 08:09:10 2031 GMT'])
    assert.ok(Math.abs(Date.parse('Jan  7 08:09:10 2031 GMT') - untilMs) < 1000)
  })
})

describe('rotation', () => {
  test('[S-17] the token is in no argument of any program', async () => {
    root.write('/var/lib/rancher/k3s/server/token', `K10${'a'.repeat(64)}::server:oldoldoldoldoldold\n`)
    root.write(
      '/test-bin/curl',
      '#!/bin/sh\necho "curl $*" >>"$CROFT_ROOT/calls"\ncat >"$CROFT_ROOT/curl-input"\n',
      0o755,
    )
    assert.deepEqual(await root.ask(['rotate-token'], '{"token":"newnewnewnewnewnew"}'), { ok: true })
    assert.match(
      root.read('/curl-input'),
      /user = "server:oldoldoldoldoldold"\ndata = "\{\\"newToken\\":\\"newnewnewnewnewnew\\"\}"/,
    )
    assert.doesNotMatch(root.calls(), /oldold|newnew/)
  })

  test('certificates are exchanged while K3s stands still, and it starts again whatever came of it', async () => {
    for (const [code, state] of [
      [0, 'done'],
      [1, 'failed'],
    ] as const) {
      root.write('/etc/systemd/system/k3s-agent.service', '')
      root.write(
        '/usr/local/bin/k3s',
        `#!/bin/sh\necho "k3s $*" >>"$CROFT_ROOT/calls"\n[ ${code} = 0 ] || echo 'no certificates here' >&2\nexit ${code}\n`,
        0o755,
      )
      root.write('/calls', '')
      assert.deepEqual(await root.ask(['renew-certificates']), { ok: true })
      const calls = root
        .calls()
        .split('\n')
        .filter((line) => /certificate|(stop|start) /.test(line))
      assert.match(
        calls.join('\n'),
        /stop k3s-agent\.service\nk3s certificate rotate\n.*start --no-block k3s-agent\.service/,
      )
      const { sinceMs: _, ...job } = (await root.ask(['facts'])).job as Record<string, unknown>
      const message = code === 0 ? {} : { message: 'no certificates here' }
      assert.deepEqual(job, { name: 'renew-certificates', state, ...message })
    }
  })

  test('new CA files are staged, handed over and gone again', async () => {
    root.write(
      '/usr/local/bin/k3s',
      '#!/bin/sh\necho "$*" >>"$CROFT_ROOT/calls"\nls -R "$CROFT_ROOT/run/croft/rotate-ca" >>"$CROFT_ROOT/calls"\n',
      0o755,
    )
    assert.deepEqual(
      await root.ask(['rotate-ca'], files(['/var/lib/rancher/k3s/server/tls/server-ca.crt', '0644', 'new'])),
      { ok: true },
    )
    assert.match(root.calls(), /certificate rotate-ca --path=.*\/run\/croft\/rotate-ca\/var\/lib\/rancher\/k3s\/server/)
    assert.match(root.calls(), /server-ca\.crt/)
    assert.ok(!root.has('/run/croft/rotate-ca') && !root.has('/var/lib/rancher/k3s/server/tls/server-ca.crt'))
  })
})

/** Serves texts by path, or a listener, on loopback while `work` runs. */
async function serving(
  what: Readonly<Record<string, string>> | RequestListener,
  work: (base: string) => Promise<void>,
): Promise<void> {
  const listener: RequestListener =
    typeof what === 'function'
      ? what
      : (request, response) => {
          const text = what[request.url ?? '']
          response.writeHead(text === undefined ? 404 : 200)
          response.end(text)
        }
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
}

/** Returns one revision of a key in the format of etcd's file: the revision, then the key with its value. */
function etcdPut(revision: number, hash: string): Uint8Array {
  const key = Buffer.from(`/bootstrap/${hash}`)
  const value = Buffer.from('salt:c2VjcmV0')
  const pair = [0x0a, key.length, ...key, 0x10, 2, 0x18, 3, 0x20, 1, 0x2a, value.length, ...value]
  return Buffer.concat([revisionOf(revision), Buffer.from(pair)])
}

function etcdDelete(revision: number, hash: string): Uint8Array {
  const key = Buffer.from(`/bootstrap/${hash}`)
  return Buffer.concat([revisionOf(revision), Buffer.from('t'), Buffer.from([0x0a, key.length, ...key])])
}

function revisionOf(revision: number): Uint8Array {
  const bytes = Buffer.alloc(17)
  bytes.writeBigUInt64BE(BigInt(revision), 0)
  bytes.write('_', 8)
  return bytes
}

/** Packs a snapshot like K3s: one file, followed by its sizes. */
function zipped(bytes: Uint8Array): Uint8Array {
  const packed = deflateRawSync(bytes)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(8, 6)
  header.writeUInt16LE(8, 8)
  header.writeUInt16LE(1, 26)
  const behind = Buffer.alloc(16)
  behind.writeUInt32LE(0x08074b50, 0)
  behind.writeUInt32LE(crc32(bytes), 4)
  behind.writeUInt32LE(packed.length, 8)
  behind.writeUInt32LE(bytes.length, 12)
  return Buffer.concat([header, Buffer.from('a'), packed, behind])
}
